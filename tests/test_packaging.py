"""What users install: complete, free of what they do not need, and no larger than it was said to be."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from deploy.make_sbom import follow_requirements, write_sbom
from packaging.utils import canonicalize_name

from tests_root import ROOT
from weighbeam import __version__

SOURCE = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TORCH = {"torch", "nli-training"}
MOST_MEGABYTES = 260
LARGEST_FILE, LARGEST_SDIST = 36_000_000, 40_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def list_source() -> set[str]:
    """Files of the package that are no traces of running it."""
    paths = (path for path in (SOURCE / "weighbeam").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(SOURCE)) for path in paths}


def test_the_wheel_has_the_whole_package_and_nothing_else(built: Path) -> None:
    (path,) = built.glob("*.whl")
    assert path.name == f"weighbeam-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        info = f"weighbeam-{__version__}.dist-info"
        told = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
        entries = wheel.read(f"{info}/entry_points.txt").decode()
    own = {name for name in names if not name.startswith(info)}
    assert own == list_source()
    assert {"weighbeam/py.typed", "weighbeam/senses/adapters/entailment/models/nli-minilm/model.onnx"} <= own
    assert {f"{info}/licenses/LICENSE", f"{info}/RECORD"} <= names
    assert told["License-Expression"] == "MIT AND MPL-2.0"
    assert set(told.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert "weighbeam = weighbeam.cli.main:app" in entries
    assert entries.count(".mechanism:") == 4
    assert entries.count(".ui.") == 6


def test_the_source_distribution_has_what_is_kept_and_nothing_made(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    assert path.stat().st_size < LARGEST_SDIST
    with tarfile.open(path) as packed:
        files = {member.name.partition("/")[2]: member.size for member in packed if member.isfile()}
    assert list_source() == {name.removeprefix("src/") for name in files if name.startswith("src/")}
    assert {"LICENSE", "README.md", "Makefile", "constraints.txt", "tests/tests_root.py", "docs/start/install.md"} <= {
        *files
    }
    assert [name for name, size in files.items() if size > LARGEST_FILE] == []
    made = ("build/", "dist/", ".venv", ".git/", "src/weighbeam.egg-info")
    assert [name for name in files if name.startswith(made) or name.endswith((".pyc", ".sqlite-wal"))] == []


def measure(files: Iterable[Path]) -> float:
    """Megabytes. What a module is compiled to is a quarter larger than itself; models do not count."""
    kept = [file for file in files if file.is_file() and file.suffix not in (".pyc", ".onnx")]
    return sum(file.stat().st_size * (2.25 if file.suffix == ".py" else 1) for file in kept) / 1e6


def test_the_core_is_no_larger_than_was_said() -> None:
    """Without model weights, which are measured apart."""
    sizes = {"weighbeam": measure((SOURCE / "weighbeam").rglob("*"))}
    for name in follow_requirements(*PROJECT["dependencies"]):
        sizes[name] = measure(Path(str(file.locate())) for file in distribution(name).files or ())
    total, largest = sum(sizes.values()), sorted(sizes.items(), key=lambda each: -each[1])[:15]
    assert 100 < total <= MOST_MEGABYTES, f"{total:.0f} MB: {largest}"


def test_every_extra_is_explained() -> None:
    table = (ROOT / "docs/start/install.md").read_text().partition("| extra |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.M)
    assert sorted(rows) == sorted(PROJECT["optional-dependencies"])


def test_everything_needed_is_pinned() -> None:
    pinned = {canonicalize_name(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text().split()}
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name not in TORCH for line in lines]
    assert set(follow_requirements(*PROJECT["dependencies"], *extras)) - pinned == {"weighbeam"}


def test_the_bill_of_materials_names_packages_and_models() -> None:
    written = write_sbom(follow_requirements("weighbeam[all]"))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(written)) is None
    refs = [component["bom-ref"] for component in written["components"]]
    assert len(refs) == len(set(refs)) > 50
    assert {"fetched:minilm-fp32", "fetched:punkt"} < set(refs)
    known = {*refs, written["metadata"]["component"]["bom-ref"]}
    assert {ref for one in written["dependencies"] for ref in (one["ref"], *one["dependsOn"])} <= known
