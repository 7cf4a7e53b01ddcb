"""Install the wheel as a user would: an empty environment, no compiler, wheels only; then use it. `make package-test`.

python tests/clean_install.py dist
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

from tests_root import ROOT

NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false", "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""}
COMMANDS = (
    ("python", "-m", "pip", "check"),
    ("weighbeam", "--version"),
    ("weighbeam", "setup", "--dry-run"),
    ("weighbeam", "setup"),
    ("weighbeam", "setup"),
    ("python", "-m", "weighbeam", "doctor"),
    ("weighbeam", "score", "chunking", str(ROOT / "examples/chunking.json")),
    ("weighbeam", "vectors", "run", str(ROOT / "vectors")),
)


def run(words: Sequence[str], folder: Path) -> str:
    """Run it in an empty folder, far from the sources; what it said, unless it failed."""
    started = time.monotonic()
    environment = {**os.environ, **NO_COMPILER, "WEIGHBEAM_CACHE": str(folder / "cache")}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)
    shown = " ".join(Path(word).name if word.startswith("/") else word for word in words)
    print(f"{time.monotonic() - started:6.1f} s  {shown}", flush=True)
    if done.returncode:
        sys.exit(f"{shown} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(folder: Path) -> dict[str, int]:
    """Bytes by top-level name of an environment's packages."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            top = path.relative_to(folder).parts[0]
            sizes[top] = sizes.get(top, 0) + path.stat().st_size
    return sizes


def main(dist: Path) -> None:
    (wheel,) = dist.resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        bin = folder / "env" / "bin"
        pip = (str(bin / "python"), "-m", "pip")
        run((*pip, "install", "-q", "-c", str(ROOT / "constraints.txt"), "--only-binary", ":all:", str(wheel)), folder)
        packages = next((folder / "env/lib").glob("python3*/site-packages"))
        sizes = {name: size for name, size in measure(packages).items() if not name.startswith(("pip", "setuptools"))}
        for name, size in sorted(sizes.items(), key=lambda each: -each[1])[:15]:
            print(f"{size / 1e6:6.1f} MB  {name}")
        print(f"{sum(sizes.values()) / 1e6:6.1f} MB  in all")
        for program, *words in COMMANDS:
            said = run((str(bin / program), *words), folder)
        print(said.strip())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
