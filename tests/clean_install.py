"""Install the wheel as a user would: an empty environment, no compiler, wheels only; then use it. `make package-test`.

python tests/clean_install.py dist              # the core, then what needs the extra `validator`
python tests/clean_install.py dist charts lab   # only time and size of these extras, each in an environment of its own
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
JOURNAL = str(ROOT / "golden/0.1.0/journal.sqlite")
MECHANISMS = ("chunking", "evidence", "inference", "novelty")
CORE = (
    ("python", "-m", "pip", "check"),
    ("weighbeam", "--version"),
    ("weighbeam", "--help"),
    ("weighbeam", "setup", "--dry-run"),
    ("weighbeam", "setup"),
    ("weighbeam", "setup"),
    ("python", "-m", "weighbeam", "doctor"),
    ("weighbeam", "mechanism", "list"),
    *(("weighbeam", "mechanism", "show", name) for name in MECHANISMS),
    *(("weighbeam", "score", name, str(ROOT / f"examples/{name}.json")) for name in MECHANISMS),
    ("weighbeam", "vectors", "run", str(ROOT / "vectors/chunking.rank.json")),
    ("python", "-c", f"import weighbeam; weighbeam.score('chunking', {str(ROOT / 'examples/chunking.json')!r}).best"),
)
MISSING = (
    ("validator", "run", "validator"),
    ("validator", "run", "miner"),
    ("validator", "replay", "--store", JOURNAL),
    ("service", "serve"),
    ("lab", "lab", "backtest", "--store", JOURNAL),
    ("charts", "score", "chunking", str(ROOT / "examples/chunking.json"), "--html", "page.html"),
    ("ray", "lab", "attack", "--ray", "local"),
    ("chunkers", "score", "chunking", str(ROOT / "examples/document.txt"), "--chunker", "semchunk"),
    ("openai", "score", "novelty", str(ROOT / "examples/novelty.json"), "--embedder", "openai:m@http://127.0.0.1:9/v1"),
    ("torch", "score", "novelty", str(ROOT / "examples/novelty.json"), "--embedder", "st:nothing"),
)
"""Commands that need an extra, and which one; each is one error with the line to type."""
LATER = (
    ("parquet", "journal", "export", "--parquet", "exported", "--store", JOURNAL),
    ("postgres", "replay", "--store", "postgresql://127.0.0.1:9/nothing"),
)
"""The same, once the extra `validator` is there."""
OF_PIP = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
LEFT_OUT = (".pyc", ".onnx")
VALIDATOR = (
    ("python", "-m", "weighbeam", "doctor"),
    ("weighbeam", "replay", "--store", JOURNAL),
    ("weighbeam", "score", "chunking", str(ROOT / "examples/chunking.json"), "--html", "page.html"),
    ("weighbeam", "vectors", "run", str(ROOT / "vectors")),
)


def start(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in an empty folder, far from the sources."""
    started = time.monotonic()
    environment = {**os.environ, **NO_COMPILER, "WEIGHBEAM_CACHE": str(folder / "cache")}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)
    print(f"{time.monotonic() - started:6.1f} s  {shorten(words)}", flush=True)
    return done


def shorten(words: Sequence[str]) -> str:
    return " ".join(Path(word).name if word.startswith("/") else word for word in words)


def run(words: Sequence[str], folder: Path) -> str:
    """What it said, unless it failed."""
    done = start(words, folder)
    if done.returncode:
        sys.exit(f"{shorten(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_missing(program: Path, extra: str, words: Sequence[str], folder: Path) -> None:
    """It ends with one error, whose remedy is the line to type."""
    done = start((str(program), *words), folder)
    lines = done.stderr.splitlines()
    wanted = f"remedy: pip install 'weighbeam[{extra}]'"
    if done.returncode != 2 or len(lines) != 2 or not lines[-1].startswith(wanted):
        sys.exit(f"{shorten(words)} ended with {done.returncode}, not with {wanted}\n{done.stdout}{done.stderr}")


def measure(folder: Path) -> dict[str, tuple[int, int]]:
    """Bytes by top-level name of an environment's packages, without pip: in all, and of that bytecode and models."""
    sizes: dict[str, tuple[int, int]] = {}
    for path in folder.rglob("*"):
        top = path.relative_to(folder).parts[0]
        if path.is_file() and not path.is_symlink() and not top.startswith(OF_PIP):
            size, (whole, left_out) = path.stat().st_size, sizes.get(top, (0, 0))
            sizes[top] = whole + size, left_out + (size if path.suffix in LEFT_OUT else 0)
    return sizes


def install(wheel: Path, extras: str, folder: Path) -> Path:
    """A new environment with the wheel; how long that took and how large it is."""
    venv.create(folder / "env", with_pip=True)
    bin = folder / "env" / "bin"
    pip = (str(bin / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"))
    run((*pip, "--only-binary", ":all:", f"weighbeam{extras} @ {wheel.as_uri()}"), folder)
    show_sizes(bin)
    return bin


def show_sizes(bin: Path) -> None:
    sizes = measure(next((bin.parent / "lib").glob("python3*/site-packages")))
    for name, (whole, _) in sorted(sizes.items(), key=lambda each: -each[1][0])[:15]:
        print(f"{whole / 1e6:6.1f} MB  {name}")
    whole, left_out = (sum(part) for part in zip(*sizes.values(), strict=True))
    print(f"{whole / 1e6:6.1f} MB  in all; {(whole - left_out) / 1e6:.1f} MB without bytecode and models", flush=True)


def use(wheel: Path, folder: Path) -> None:
    bin = install(wheel, "", folder)
    for program, *words in CORE:
        run((str(bin / program), *words), folder)
    for extra, *words in MISSING:
        check_missing(bin / "weighbeam", extra, words, folder)
    pip = (str(bin / "python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"))
    run((*pip, "--only-binary", ":all:", f"weighbeam[validator] @ {wheel.as_uri()}"), folder)
    show_sizes(bin)
    for program, *words in VALIDATOR:
        said = run((str(bin / program), *words), folder)
    for extra, *words in LATER:
        check_missing(bin / "weighbeam", extra, words, folder)
    print(said.strip())


def main(dist: Path, extras: Sequence[str]) -> None:
    (wheel,) = dist.resolve().glob("*.whl")
    for extra in extras:
        with tempfile.TemporaryDirectory() as name:
            print(f"extra {extra}", flush=True)
            install(wheel, f"[{extra}]", Path(name))
    if not extras:
        with tempfile.TemporaryDirectory() as name:
            use(wheel, Path(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
