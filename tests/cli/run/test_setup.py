"""`weighbeam setup` with pip itself, over a folder as its index: what it fetches, refuses, and leaves alone."""

import hashlib
import json
import os
import sys
import venv
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from warm import weighbeam_warm
from weighbeam.app.models import ModelPackage, fetch, list_packages, run_pip
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters import model_files
from weighbeam.senses.adapters.text import sentences

DATA = f"{sentences.CARRIER_FOLDER}/{sentences.PUNKT_DATA}"
FILES = {"little/__init__.py": "", f"{DATA}/starters.txt": "the\n", f"{DATA}/types.txt": "dr\n", "other.txt": "x"}
INFO = "little-1.0.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "little-1.0-py3-none-any.whl"
    told = {
        f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: little\nVersion: 1.0\nRequires-Dist: a-thing-not-to-be-had\n",
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in (FILES | told).items():
            packed.writestr(name, content)
        packed.writestr(f"{INFO}/RECORD", "".join(f"{name},,\n" for name in [*FILES, *told, f"{INFO}/RECORD"]))
    return path


@pytest.fixture
def digest(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """That of the wheel; pip knows no other place to look."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def make_parcel(sha256: str, place: Path, check: Callable[[], str] = lambda: "right") -> ModelPackage:
    return replace(list_packages(["punkt"])[0], requirement="little==1.0", sha256=sha256, place=place, check=check)


def test_a_package_is_installed_without_what_it_depends_on(digest: str, tmp_path: Path) -> None:
    run_pip("install", "little==1.0", digest, "--target", str(tmp_path))
    assert (tmp_path / "other.txt").read_text() == "x"


def test_of_a_carrier_only_the_data_is_kept_and_what_was_there_goes(digest: str, tmp_path: Path) -> None:
    old = tmp_path / sentences.PUNKT_DATA / "old.txt"
    old.parent.mkdir(parents=True)
    old.write_text("damaged")
    fetch(make_parcel(digest, tmp_path))
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {f"{sentences.PUNKT_DATA}/starters.txt", f"{sentences.PUNKT_DATA}/types.txt"}


def test_what_is_fetched_must_be_right(tmp_path: Path) -> None:
    def check() -> str:
        raise WeighbeamError("wrong_weights", "not the known ones", "weighbeam setup")

    with pytest.raises(WeighbeamError, match="wrong_weights"):
        fetch(replace(make_parcel("", tmp_path, check), fetch=lambda parcel: None))


def test_another_file_of_that_name_is_refused(digest: str, tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"wrong_package: little==1.0 .*HASHES.*package index"):
        fetch(make_parcel("0" * 64, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_had_says_so(digest: str, tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"not_fetched: little==2.0 .*look at the network"):
        run_pip("download", "little==2.0", digest, "--dest", str(tmp_path))
    with pytest.raises(WeighbeamError, match=r"not_fetched.*more than 0.01 s"):
        run_pip("download", "little==1.0", digest, "--dest", str(tmp_path), seconds=0.01)


def test_a_place_that_cannot_be_written_is_named(digest: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(WeighbeamError, match=r"no_place: .*file/tokenizers/punkt_tab/english cannot be written"):
        fetch(make_parcel(digest, tmp_path / "file"))


def test_an_environment_without_pip_is_told_what_to_install(
    digest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare/bin/python"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(WeighbeamError, match=r"no_pip.*install little==1.0 without its dependencies"):
        run_pip("install", "little==1.0", digest)


def test_what_is_there_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "MINILM_PACKAGE", "no-such-package-at-all")
    monkeypatch.setattr(sentences, "PUNKT_SHA256", "0" * 64)
    monkeypatch.delenv("WEIGHBEAM_PUNKT", raising=False)
    assert [parcel.look() for parcel in list_packages()] == ["missing", "wrong"]
    monkeypatch.setitem(sys.modules, "nltk", None)
    assert list_packages(["punkt"])[0].look() == "not needed"


def test_the_command_says_what_it_does_and_does_nothing_twice() -> None:
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere"}
    done = weighbeam_warm("setup", **nowhere)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing to fetch"), done.stderr
    told = json.loads(weighbeam_warm("setup", "--dry-run", "--json", **nowhere).stdout)["parcels"]
    assert [(one["name"], one["was"], one["fetched"]) for one in told] == [
        ("minilm-fp32", "there", False),
        ("punkt", "there", False),
    ]
    refused = weighbeam_warm("setup", "--only", "nothing", "--json")
    assert (refused.returncode, json.loads(refused.stdout)["error"]) == (2, "unknown_parcel")
