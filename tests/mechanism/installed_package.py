"""Packages that an installer has put in place, for tests: a folder on the path, with the metadata of entry points."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path
from shutil import rmtree

from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.simulate.worlds import load_senses
from weighbeam.mechanism.registry import GROUP, _find_entries, load_cached, warn_once


@contextmanager
def install(folder: Path, entries: Mapping[str, str], package: str = "some-package") -> Iterator[Path]:
    """Have the modules in `folder` on the path, with these mechanisms: name → module:class."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n", "utf-8")
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    _forget()
    try:
        yield folder
    finally:
        sys.path.remove(str(folder))
        rmtree(info)
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        _forget()


def _forget() -> None:
    invalidate_caches()
    for cached in (_find_entries, load_cached, warn_once, list_attacks, load_senses):
        cached.cache_clear()
