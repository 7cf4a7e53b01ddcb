"""Note the default parameters of this version in `released.json`. `make golden` runs it once per release.

What is noted of a version stays: if a default is to change, the version must. `--anyway` is for a version that nobody
has yet.
"""

import json
import sys

from weighbeam import __version__
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import list_mechanisms, load_mechanism
from weighbeam.mechanism.released import FILE


def main(anyway: bool) -> None:
    released = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    own = sorted(name for name, entry in list_mechanisms().items() if entry.module.startswith("weighbeam."))
    defaults = {name: make_params(load_mechanism(name)).model_dump(mode="json") for name in own}
    if released.get(__version__, defaults) != defaults and not anyway:
        sys.exit(f"{__version__} is noted with other defaults: set a new version, and say in CHANGELOG.md what changed")
    FILE.write_text(json.dumps({**released, __version__: defaults}, indent=1) + "\n", "utf-8")
    print(f"{FILE.name}: {len(released | {__version__: 1})} versions")


if __name__ == "__main__":
    main("--anyway" in sys.argv)
