"""`weighbeam mechanism new` writes a package that can be installed, checked, tested and served as it is."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mechanism.installed_package import install
from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam.app.settings.sources import load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.checks import check_mechanism
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanism.scaffold import MAX_NAME, write_package
from weighbeam.senses.local import LocalSenses

NAME = "harbour-notes"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new")
    done = weighbeam_warm("mechanism", "new", NAME, "--into", folder, "--json")
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["files"]
    assert sorted(files) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    return folder / NAME


def read_entries(package: Path) -> dict[str, str]:
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == NAME
    return project["entry-points"]["weighbeam.mechanisms"]


def test_it_is_found_and_keeps_the_contract(package: Path, senses: LocalSenses) -> None:
    with install(package / "src", read_entries(package), NAME):
        assert all(finding.ok for finding in check_mechanism(load_mechanism(NAME), senses))


def test_its_own_test_passes(package: Path) -> None:
    path = os.pathsep.join([str(package / "src"), *filter(None, sys.path)])
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(package), "tests"]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(words, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_settings_are_settings(package: Path) -> None:
    with install(package / "src", read_entries(package), NAME):
        assert list(load_settings(package / "validator.toml", {}).settings.mechanisms) == [NAME]
        answers = load_settings(package / "miner.toml", {}).settings.miner.answers
    assert answers == {NAME: "harbour_notes.miner:answer"}


def test_the_readme_names_commands_and_files_that_exist(package: Path) -> None:
    said = (package / "README.md").read_text("utf-8")
    assert "$" not in said
    assert f"weighbeam mechanism check {NAME}" in said
    assert all(
        (package / name).exists() for name in ("question.json", "validator.toml", "miner.toml", "pyproject.toml")
    )


def test_it_is_formatted_and_short(package: Path) -> None:
    source = package / "src/harbour_notes/mechanism.py"
    assert len(source.read_text("utf-8").splitlines()) <= 40
    words = ["ruff", "format", "--check", "--isolated", "--line-length", "120", str(package)]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    sorted_ = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,I", "--line-length", "120", "."]
    done = subprocess.run(sorted_, cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "bad_name"),
        ("Harbour", "bad_name"),
        ("harbour_notes", "bad_name"),
        ("harbour--notes", "bad_name"),
        ("7tides", "bad_name"),
        ("../tides", "bad_name"),
        ("tides\n", "bad_name"),
        ("x" * (MAX_NAME + 1), "bad_name"),
        ("class", "bad_name"),
        ("chunking", "name_taken"),
        ("keyword-recall", "name_taken"),
        ("json", "name_taken"),
        ("weighbeam", "name_taken"),
    ],
)
def test_a_bad_or_taken_name_is_refused(name: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError) as caught:
        write_package(name, tmp_path)
    assert caught.value.code == code
    assert caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    done = weighbeam_warm("mechanism", "new", NAME, "--into", tmp_path)
    assert done.returncode != 0
    assert "[folder_exists]" in done.stderr
    assert list((tmp_path / NAME).iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeighbeamError, match="cannot_write"):
        write_package(NAME, tmp_path / "file")


def test_every_template_is_used() -> None:
    from weighbeam.mechanism.scaffold import FILES, TEMPLATES

    assert {path.name for path in TEMPLATES.iterdir()} == {f"{template}.txt" for template in FILES.values()}
    assert TEMPLATES.is_relative_to(ROOT / "src")
