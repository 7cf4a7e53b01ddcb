"""What contributors are given works: every command that workflow, hooks, Makefile and pages name exists."""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pre_commit.clientlib import load_config

from tests_root import ROOT
from weighbeam import __version__

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.M))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
TOOLS = {"test", "mkdir", "rm", "touch", "echo", "grep", "awk", "tail", "tee", "cat", "find", "nproc"}
FRESH = {"pip", "uv", "weighbeam", "python"}
"""Programs of environments that a target makes for itself."""


def load_workflow() -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))


def list_steps() -> Iterator[tuple[str, str]]:
    for name, job in load_workflow()["jobs"].items():
        yield from ((name, step["run"]) for step in job["steps"] if "run" in step)


def list_installed() -> set[str]:
    """Programs that the environment of the tests has."""
    scripts = {entry.name for entry in entry_points(group="console_scripts")}
    beside = Path(sys.executable).parent
    return scripts | {path.name for path in beside.iterdir()}


def test_the_workflow_runs_commands_that_exist() -> None:
    steps = list(list_steps())
    assert {name for name, _ in steps} == {"checks", "tests", "slow", "coverage", "package"}
    for name, command in steps:
        program, *words = command.split()
        if program == "make":
            assert set(words) <= TARGETS, name
        elif program.startswith("."):
            assert (ROOT / program).stat().st_mode & 0o100, name
        else:
            assert shutil.which(program) is not None, name


def test_the_workflow_tries_every_python_that_is_promised() -> None:
    tried = load_workflow()["jobs"]["tests"]["strategy"]["matrix"]["python"]
    promised = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python :: 3." in line]
    assert tried == promised == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["project"]["requires-python"] == f">={tried[0]}"


def test_the_workflow_may_only_read_and_ends() -> None:
    workflow = load_workflow()
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert {one for one in used if not re.fullmatch(r"actions/[\w-]+@v\d+", one)} == set()


def test_the_hooks_run_programs_that_are_installed() -> None:
    config = load_config(str(ROOT / ".pre-commit-config.yaml"))
    hooks = {hook["id"]: hook["entry"].split() for repo in config["repos"] for hook in repo["hooks"]}
    assert set(hooks) == {"ruff-check", "ruff-format", "typos", "mypy", "import-linter"}
    assert all(entry[0].startswith(".venv/bin/") for entry in hooks.values())
    assert {entry[0].removeprefix(".venv/bin/") for entry in hooks.values()} <= list_installed()


def list_recipe_programs() -> Iterator[tuple[str, str]]:
    """The first word of every command of the Makefile, its variables replaced."""
    values = dict(re.findall(r"^([A-Z_]+) [:?]?= (.*)$", MAKEFILE, re.M))
    values |= {"MAKE": "make", "DEMO_BIN": ".venv/bin"}
    for line in re.findall(r"^\t@?(.+)$", MAKEFILE, re.M):
        for _ in range(4):
            line = re.sub(r"\$\(([A-Z_]+)\)", lambda found: values.get(found[1], ""), line)
        line = re.sub(r"\$\(if ,[^()]*(?:\([^()]*\)[^()]*)*\)", "", line)
        for command in re.split(r" && | \|\| | \| ", line):
            words = [word for word in command.split() if not re.match(r"[A-Z_]+=|\$\(if|\$\$", word)]
            if words:
                yield words[0].lstrip("@"), command


def test_the_makefile_runs_programs_that_exist() -> None:
    installed, found = list_installed(), list(list_recipe_programs())
    assert len(found) > 50
    missing = []
    for program, command in found:
        folder, _, name = program.rpartition("/bin/")
        if folder in (".venv", ".venv-torch", ".venv-llm", ".venv-lock"):
            known = name in installed or (folder != ".venv" and name in FRESH)
        else:
            known = program in TOOLS or program.startswith(("python3", "$(")) or program == "make" or not program
        missing += [] if known else [command]
    assert missing == []


def test_the_makefile_runs_files_that_exist() -> None:
    files = re.findall(r"\S*python ((?:tests|docs|golden|deploy)/[\w/]+\.py)", MAKEFILE)
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).is_file()] == []
    for page in ("AGENTS.md", ".github/PULL_REQUEST_TEMPLATE.md", "CONTRIBUTING.md"):
        named = re.findall(r"(?:`|^ +)make ([a-z -]+)", (ROOT / page).read_text("utf-8"), re.M)
        assert named, page
        assert {word for words in named for word in words.split()} <= TARGETS, page


def test_the_layers_that_are_told_are_those_that_are_held() -> None:
    told = re.findall(r"\w+", (ROOT / "AGENTS.md").read_text("utf-8").partition("    cli →")[2].partition("\n\n")[0])
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert ["cli", *told] == [name.removeprefix("weighbeam.") for name in layers if name != "weighbeam.api"]


def test_every_released_version_has_a_date() -> None:
    first, *released = re.findall(r"^## (.+)$", CHANGELOG, re.M)
    assert first == "Unreleased"
    assert released
    dates = [re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)", title) for title in released]
    assert None not in dates
    assert [found[2] for found in dates] == sorted((found[2] for found in dates), reverse=True)
    kinds = set(re.findall(r"^### (.+)$", CHANGELOG, re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known gaps"}


def test_the_checklist_of_a_release_ends_in_its_tag() -> None:
    steps = re.findall(
        r"^\d\. (.+)$", (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("### Checklist")[2], re.M
    )
    assert len(steps) > 5
    assert "git tag -s v" in steps[-1]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (str(cited["version"]), cited["license"]) == (__version__, PROJECT["project"]["license"])


def list_locked() -> dict[str, tuple[Requirement, list[str]]]:
    found = {}
    lines = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", "").splitlines()
    for line in lines:
        needed, *hashes = line.split(" --hash=")
        requirement = Requirement(needed)
        found[canonicalize_name(requirement.name)] = (requirement, [one.strip() for one in hashes])
    return found


def test_the_lock_pins_what_constraints_pin_by_hash_and_names_no_index() -> None:
    locked = list_locked()
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split())
    versions = {canonicalize_name(name): version for name, version in pinned.items()}
    assert len(locked) > 150
    assert {
        name for name in versions if name in locked and str(locked[name][0].specifier) != f"=={versions[name]}"
    } == set()
    missing = set(versions) - set(locked) - {"setuptools"}
    assert missing == set(), "run make lock-hashes"
    for requirement, hashes in locked.values():
        assert hashes, requirement
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes)
        assert requirement.url is None


@pytest.mark.parametrize("name", ["bug", "attack", "proposal"])
def test_a_template_has_a_head(name: str) -> None:
    _, head, body = (ROOT / f".github/ISSUE_TEMPLATE/{name}.md").read_text("utf-8").split("---\n", 2)
    assert set(yaml.safe_load(head)) == {"name", "about", "labels"}
    named = re.findall(r"\bdocs/\w+|[A-Z]+\.md", body)
    assert [one for one in named if not (ROOT / one).exists()] == []
