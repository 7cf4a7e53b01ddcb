"""Commands that packages add: a mechanism's own options and table, groups of commands, and packages that are broken."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import weighbeam

MECHANISM = '''
from weighbeam.mechanism.base import Mechanism


class Brief(Mechanism):
    """Pay for brevity."""

    name = "brief"

    def task(self, params, seed):
        return {"topic": "tides"}

    def measure(self, task, reply, senses):
        return {"letters": len(reply["text"])}

    def grade(self, params, facts):
        return {"brevity": 1 / (1 + facts["letters"])}
'''
COMMANDS = '''
from typing import Annotated

import typer

from weighbeam.cli.score.command import ScoreCall, ScoreCommand

group = typer.Typer(help="Greet people.")


@group.command()
def hello():
    """Greet."""
    print("hello from a package")


class ScoreBrief(ScoreCommand):
    file_help = "A question about brevity."

    def run(self, call: ScoreCall, shout: Annotated[bool, typer.Option("--shout", help="Be loud.")] = False) -> None:
        """Score brevity, loudly or not."""
        with call.open_senses() as senses:
            result = call.score(call.load_question(), senses)
        self.report(call, result, {"shout": shout})

    def show(self, result, extra, hint):
        print("BRIEF" if extra["shout"] else "brief", len(result.scored.scores), hint)
'''
QUESTION = {"topic": "tides", "answers": [{"hotkey": "a", "text": "sea"}, {"hotkey": "b", "text": "the sea"}]}
REGISTERED = {"weighbeam.mechanisms": {"brief": "brief_mechanism:Brief"}}


def install(folder: Path, entries: dict[str, dict[str, str]], name: str = "brief") -> str:
    """A package that is installed for one process; gives the search path that finds it."""
    (folder / "brief_mechanism.py").write_text(MECHANISM)
    (folder / "brief_commands.py").write_text(COMMANDS)
    record = folder / f"{name}-1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in row.items()) for group, row in entries.items()
    ]
    (record / "entry_points.txt").write_text("\n".join(lines))
    (folder / "question.json").write_text(json.dumps(QUESTION))
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_a_mechanism_without_a_command_of_its_own_has_a_table_and_a_tree(tmp_path: Path) -> None:
    path = install(tmp_path, REGISTERED)
    done = weighbeam("score", "brief", tmp_path / "question.json", "--explain", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "brief, best first" in done.stdout
    assert "brevity = 0.25" in done.stdout
    one = weighbeam("score", "brief", tmp_path / "question.json", "--json", PYTHONPATH=path)
    assert [row["value"] for row in json.loads(one.stdout)["answers"]] == [0.25, 0.125]


def test_a_mechanism_adds_options_and_a_table(tmp_path: Path) -> None:
    path = install(tmp_path, {**REGISTERED, "weighbeam.score": {"brief": "brief_commands:ScoreBrief"}})
    question = tmp_path / "question.json"
    shown = weighbeam("score", "brief", "--help", PYTHONPATH=path).stdout
    for text in (
        "Score brevity, loudly or not.",
        "--shout",
        "Be loud.",
        "A question about brevity.",
        "--set",
        "--only",
    ):
        assert text in shown
    assert weighbeam("score", "brief", question, PYTHONPATH=path).stdout == "brief 2 True\n"
    assert weighbeam("score", "brief", question, "--shout", "--only", "b", PYTHONPATH=path).stdout.startswith(
        "BRIEF 2 False\n"
    )
    report = json.loads(weighbeam("score", "brief", question, "--shout", "--json", PYTHONPATH=path).stdout)
    assert report["shout"] is True
    unknown = weighbeam("score", "brief", question, "--only", "c", PYTHONPATH=path)
    assert unknown.returncode == 2
    assert "unknown_hotkey" in unknown.stderr


def test_a_package_adds_a_group_and_takes_no_name(tmp_path: Path) -> None:
    groups = {"greet": "brief_commands:group", "doctor": "brief_commands:group"}
    path = install(tmp_path, {"weighbeam.commands": groups})
    shown = weighbeam("--help", PYTHONPATH=path).stdout
    assert "Greet people." in shown
    assert weighbeam("greet", "hello", PYTHONPATH=path).stdout == "hello from a package\n"
    assert "Check this installation" in weighbeam("doctor", "--help", PYTHONPATH=path).stdout


@pytest.mark.parametrize("value", ["nowhere:app", "brief_commands:missing", "brief_commands:QUESTION", "json:dumps"])
def test_a_broken_package_stops_only_its_own_command(value: str, tmp_path: Path) -> None:
    path = install(
        tmp_path, {**REGISTERED, "weighbeam.commands": {"greet": value}, "weighbeam.score": {"brief": value}}
    )
    for asked in (("--help",), ("score", "--help")):
        done = weighbeam(*asked, PYTHONPATH=path)
        assert done.returncode == 0, done.stderr
        assert "Not available: broken_command." in done.stdout
    for asked in (("greet", "hello", "--loud"), ("score", "brief", "question.json")):
        done = weighbeam(*asked, PYTHONPATH=path)
        assert done.returncode == 2
        assert "[broken_command]" in done.stderr
        assert "remedy: " in done.stderr
        assert "Traceback" not in done.stderr


def test_two_packages_with_one_command_are_told_apart(tmp_path: Path) -> None:
    install(tmp_path, {"weighbeam.commands": {"greet": "brief_commands:group"}})
    path = install(tmp_path, {"weighbeam.commands": {"greet": "another:group"}}, "another")
    done = weighbeam("greet", "hello", PYTHONPATH=path)
    assert done.returncode == 2
    assert "[duplicate_command]" in done.stderr


@pytest.mark.parametrize(
    "asked", [["--help"], ["score", "--help"], ["score", "novelty", "--help"], ["evidence", "pages", "--help"]]
)
def test_help_of_a_mechanism_s_commands_loads_no_mechanism(asked: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['weighbeam', *{asked}]\n"
        "from weighbeam.cli.main import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print([m for m in 'numpy sqlalchemy rich weighbeam.mechanism'.split() if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
