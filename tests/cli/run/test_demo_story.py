"""What `weighbeam demo` says: a line for each step, and a summary on one screen that is true to the result."""

import json
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from demo_run import Played
from network.loopback import free_port
from tests_root import ROOT
from weighbeam.cli.main import app
from weighbeam.cli.run.demo_story import DemoStory
from weighbeam.cli.run.demo_summary import DETAILS, DemoFiles, list_looks, show_summary
from weighbeam.cli.run.demo_tables import list_commands
from weighbeam.demo.dashboard import PORT, find_port
from weighbeam.demo.subnet import DemoStep
from weighbeam.engine.journal.journal import CommittedRound
from weighbeam.mechanism.records import Score, Scored
from weighbeam.network.http_server import bind

WIDTH = 80


def make_round(valid: int, others: int, status: str = "invalid") -> CommittedRound:
    scores = [Score(f"v{n}", "valid", 1.0, {}) for n in range(valid)]
    scores += [Score(f"o{n}", status, None if status == "unscored" else 0.0, {}, ("late",)) for n in range(others)]
    return CommittedRound("round", 1, "", Scored(tuple(scores), {}), ())


def make_step(kind: str, name: str) -> DemoStep:
    good, void = make_round(9, 6), make_round(0, 15, "unscored")
    return DemoStep(kind, name, {"chunking": [good, good], "inference": [good, void], "evidence": [void, void]})


def test_in_a_pipe_every_step_is_a_line_of_both_validators(capsys: pytest.CaptureFixture[str]) -> None:
    story = DemoStory()
    story.begin("is shown on a terminal alone")
    story.follow(make_step("round", "round 1 of 5"), "")
    story.follow(DemoStep("extra", "extra round 1", {"evidence": [None, make_round(4, 11)]}), "")
    story.follow(DemoStep("extra", "extra round 2", {"evidence": [make_round(4, 11), None]}), "")
    said = capsys.readouterr().err.splitlines()
    assert max(map(len, said)) <= WIDTH
    lines = [line.split() for line in said]
    assert lines[0] == ["valid", "answers", "chunking", "inference", "evidence"]
    assert lines[1] == "round 1 of 5 18 of 30 9 of 15 void".split()
    assert "late:" in lines[2]
    assert lines[3:] == ["extra round 1 4 of 15".split(), "extra round 2 4 of 15".split()]


def test_on_a_terminal_one_line_is_written_again() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=WIDTH, color_system=None)
    with Progress(TextColumn("{task.description}"), console=console, transient=True) as live:
        story = DemoStory(live)
        story.begin("starting")
        for turn in range(5):
            story.follow(make_step("round", f"round {turn + 1} of 5"), f"round {turn + 2} of 5")
        assert [task.description for task in live.tasks] == ["round 6 of 5; 135 of 225 answers valid"]
        story.tell("a line that stays")
    assert "a line that stays\n" in console.file.getvalue()
    assert "valid answers" not in console.file.getvalue()


def test_nothing_is_said_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    story = DemoStory(silent=True)
    story.tell("a")
    story.follow(make_step("round", "round 1 of 5"), "b")
    assert capsys.readouterr().err == ""


def summarise(result: dict[str, Any], files: DemoFiles | None = None) -> str:
    console = Console(file=StringIO(), width=WIDTH)
    show_summary(console, result, ".venv/bin/weighbeam", files)
    return console.file.getvalue()


@pytest.mark.paired
def test_the_summary_fits_one_screen_and_names_who_earns(played: Played) -> None:
    text = summarise(played[0])
    lines = text.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= 55
    assert "…" not in text
    for part in played[0]["mechanisms"].values():
        for row in part["miners"]:
            share = f"{100 * row['incentive']:.1f}"
            assert row["incentive"] == 0 or re.search(rf"\b{re.escape(row['name'])}\*? {share}\b", text), row["name"]
            assert row["role"] == "honest" or row["incentive"] or row["about"] in " ".join(text.split())
    assert f"{played[0]['replay']['entries']} journal entries computed again: equal to the bit" in text
    assert "8 of 8 confirmed" in text
    deep = summarise(
        played[0], DemoFiles(Path("/a/long/path/to/some/folder/of/an/operator/demo"), "inference-44-1a2b3c4d")
    )
    assert max(map(len, deep.splitlines())) <= WIDTH
    assert "--store /a/long/path" in deep


@pytest.mark.paired
def test_climbing_the_metric_is_called_honest_and_an_attack_in_one_place(played: Played) -> None:
    text = " ".join(summarise(played[0]).split())
    assert "climb*" in text
    assert "* climb keeps every rule, so it counts as honest. The lab lists what it does as the attack" in text
    (name,) = re.findall(r"as the attack ([\w-]+), its best paid", text)
    pays = (ROOT / "docs/attacks/README.md").read_text("utf-8").partition("## Pays")[2]
    first = re.search(r"^\| \[([\w-]+)\].*?\| (\w+) \|", pays, re.M)
    assert first is not None
    assert first.groups() == (name, "chunking"), "what the demo says of the lab is what was last measured"


@pytest.mark.paired
def test_a_claim_that_fails_replaces_the_claim(played: Played) -> None:
    spoiled = json.loads(json.dumps(played[0]))
    spoiled["failures"] = ["inference: echo earns 8.0%, no less than an honest miner", "replay: a: differs"]
    spoiled["replay"]["equal"] = False
    spoiled["mechanisms"]["chunking"]["validators"][0]["weigh_in"] = "failed"
    for part in spoiled["mechanisms"].values():
        for row in part["validators"]:
            row.update(void=0, rounds=2)
    spoiled["mechanisms"]["chunking"]["validators"][0]["void"] = 1
    text = summarise(spoiled)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "7 of 8 confirmed" in text
    assert "computed again: different" in text
    assert "not as it should be: inference: echo earns 8.0%" in text
    assert "every honest miner is paid" not in text
    assert "1 of 4 rounds of chunking are void: this machine was late" in text


@pytest.mark.paired
def test_the_folder_holds_the_details_that_the_summary_names(played: Played) -> None:
    result, folder = played
    assert f"cat {folder / DETAILS}" in summarise(result, DemoFiles(folder, "round-1"))
    text = (folder / DETAILS).read_text("utf-8")
    assert not any(line.endswith(" ") for line in text.splitlines())
    for name, part in result["mechanisms"].items():
        assert f"{name} at block" in text
        for row in part["miners"]:
            shown = rf"^ *{row['uid']} {row['name']} .*{re.escape(row['about'])}.* {100 * row['incentive']:.1f}%$"
            assert re.search(shown, text, re.M), row["name"]


def list_programs(looks: dict[str, str]) -> list[list[str]]:
    return [command.split()[1:] for command in looks if command.startswith("weighbeam ")]


def test_every_command_that_is_named_exists() -> None:
    files, going = (DemoFiles(Path("demo-subnet"), "round", goes) for goes in (False, True))
    every = [
        *list_programs(list_looks("weighbeam", None)),
        *list_programs(list_looks("weighbeam", files)),
        *list_programs(list_looks("weighbeam", going)),
        *list_programs(list_commands("weighbeam", files)),
    ]
    assert len(every) > 12
    for words in every:
        find_command(words)


def find_command(words: list[str]) -> None:
    import typer

    command: Any = typer.main.get_command(app)
    for word in words:
        if word.startswith("-") or not hasattr(command, "get_command"):
            break
        command = command.get_command(None, word)
        assert command is not None, words
    options = {name for given in command.params for name in (*given.opts, *given.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options, words


def test_a_port_that_another_program_has_is_left_to_it() -> None:
    port = free_port()
    assert find_port(port) == port
    with bind("127.0.0.1", port):
        assert find_port(port) not in (0, port)
    assert find_port() == PORT or find_port() > 0


INSTALL = ROOT / "tools/install.py"


def install(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "constraints.txt").write_text("nothing==1\n")
    command = [sys.executable, INSTALL, "packages", tmp_path / "constraints.txt", "--", "--no-index", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_setting_up_says_how_it_ended_and_what_pip_said_if_it_failed(tmp_path: Path) -> None:
    (tmp_path / "wanted.txt").write_text("")
    done = install(tmp_path, "-r", str(tmp_path / "wanted.txt"))
    assert done.returncode == 0
    assert re.fullmatch(r"packages: done in \d+ s\n", done.stdout)
    done = install(tmp_path, "there-is-no-such-package")
    assert done.returncode != 0
    assert "packages: failed" in done.stdout
    assert "there-is-no-such-package" in done.stderr
