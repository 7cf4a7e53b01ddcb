"""The runtime's metadata: one file out of the SDK's own source distribution, fetched once and never committed."""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

MEMBER = "tests/fixtures/golden.json"
SHA256 = {"11.3.0": "a74c2f7fd7d9c40ba8111170bf74dddfad57a040d181b3532acb2a9ce2ef2f11"}


class NoGolden(Exception):
    """The file cannot be had here; says why."""


@cache
def load_golden() -> dict[str, Any]:
    """The recorded chain facts of the SDK version that is installed."""
    content = _find().read_bytes()
    found: dict[str, Any] = json.loads(content)
    return found


def _find() -> Path:
    sdk = version("bittensor")
    expected = SHA256.get(sdk)
    if expected is None:
        raise NoGolden(f"no SHA-256 is noted for bittensor {sdk}: add it to {Path(__file__).name}")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "weighbeam-loopnode" / f"bittensor-{sdk}-{expected}" / "golden.json"
    if not path.is_file():
        _fetch(sdk, path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        path.unlink()
        raise NoGolden(f"golden.json of bittensor {sdk} has another SHA-256 than is noted")
    return path


def _fetch(sdk: str, path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", "bittensor", f"bittensor=={sdk}", "--dest", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        if done.returncode:
            raise NoGolden(f"offline, and no cache of bittensor {sdk}: {done.stderr.strip()[-200:]}")
        with tarfile.open(next(Path(folder).glob("bittensor-*.tar.gz"))) as archive:
            inside = archive.extractfile(f"bittensor-{sdk}/{MEMBER}")
            assert inside is not None
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_bytes(inside.read())
            fresh.replace(path)
