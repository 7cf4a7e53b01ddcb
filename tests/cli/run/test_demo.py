"""`weighbeam demo` and `weighbeam replay`: a real subnet in real processes, and its journal computed again."""

import asyncio
import copy
import json
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from collections import Counter
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from command import weighbeam as run
from demo_run import copy_database
from weighbeam.cli.main import app
from weighbeam.demo.cast import MINERS
from weighbeam.demo.outcome import find_failures
from weighbeam.demo.subnet import weigh_in

pytestmark = pytest.mark.paired
HONEST = {part.hotkey.address for part in MINERS if part.role == "honest"}


def test_the_honest_are_paid_and_the_hostile_are_not(played) -> None:
    result, _ = played
    miners = result["mechanisms"]["chunking"]["miners"]
    pay = {row["name"]: row["incentive"] for row in miners}
    role = {row["name"]: row["role"] for row in miners}
    assert sum(pay.values()) > 0.99
    honest = sum(value for name, value in pay.items() if role[name] == "honest")
    assert honest > 0.6
    reasons = {row["name"]: row["reason"] for row in miners if row["reason"]}
    charged = {name: reasons.pop(name) for name in ("oversized", "splitter", "slow")}
    late = charged.pop("slow")
    assert late in ("too late", "no_chunks"), "on a busy machine it may be later than late"
    assert charged == {"oversized": "too long", "splitter": "too many"}
    failing = {name: reason for name, reason in reasons.items() if role[name] == "hostile"}
    assert failing == {
        "dropper": "new_words",
        "inventor": "new_words",
        "shuffler": "out_of_order",
        "silent": "no_chunks",
        "garbage": "malformed",
        "noise": "malformed",
        "replayer": "malformed",
    }
    assert all(pay[name] == 0 for name in failing if name != "replayer")
    assert pay["replayer"] < honest / 10


def test_inference_pays_answers_and_none_of_the_cheap_tricks(played) -> None:
    result, _ = played
    rows = {row["name"]: row for row in result["mechanisms"]["inference"]["miners"]}
    assert all(row["rounds"] == 2 for row in rows.values()), "everybody is asked in every round"
    honest = [row for row in rows.values() if row["role"] == "honest"]
    assert len(honest) == 5
    assert all(row["valid"] == 2 and row["incentive"] > 0 and row["score"] > 30 for row in honest)
    assert sum(row["incentive"] for row in honest) > 0.4
    failing = {name: row["reason"] for name, row in rows.items() if row["caught"]}
    assert failing == {
        "garbage-1": "off_topic",
        "garbage-2": "off_topic",
        "garbage-3": "off_topic",
        "instant": "off_topic",
        "echo": "echo",
        "giant": "too_large",
        "stuffing": failing["stuffing"],
    }
    assert failing["stuffing"] in ("echo", "off_topic", "not_prose")
    assert all(rows[name]["incentive"] == 0 and rows[name]["standing"] == 0 for name in failing)
    assert rows["copycat"]["reason"] == rows["voice-1"]["reason"] == "shares pay"
    assert rows["copycat"]["incentive"] < max(row["incentive"] for row in honest)


def test_novelty_pays_what_is_new_and_holds_what_is_noise(played) -> None:
    result, _ = played
    rows = {row["name"]: row for row in result["mechanisms"]["novelty"]["miners"]}
    honest = [row for row in rows.values() if row["role"] == "honest"]
    assert all(row["score"] == 100e9 and row["incentive"] > 0.19 for row in honest)
    assert {name: row["reason"] for name, row in rows.items() if row["score"] == 0} == {
        "copycat": "duplicate",
        "shouter": "duplicate",
        "spacer": "duplicate",
        "prefixer": "not_new",
        "rewording": "not_new",
        "halver": "not_new",
        "homoglyphs": "held",
        "masher": "held",
        "salad": "held",
        "repeater": "held",
    }


def test_every_miner_has_an_address_of_its_own_and_serves_both_mechanisms(played) -> None:
    result, _ = played
    served = [
        {row["uid"]: row["endpoint"].split(":")[0] for row in part["miners"]} for part in result["mechanisms"].values()
    ]
    assert served[0] == served[1]
    assert len(set(served[0].values())) == len(served[0]) == 15


def test_all_weights_are_confirmed_and_the_validators_share_the_dividends(played) -> None:
    result, _ = played
    assert result["failures"] == []
    for part in result["mechanisms"].values():
        first, second = part["validators"]
        assert first["weigh_in"] == second["weigh_in"] == "confirmed"
        assert first["dividends"] > second["dividends"] > 0


def test_the_owner_takes_what_is_burnt_and_is_no_miner(played) -> None:
    result, _ = played
    burnt = {name: part["burn"] for name, part in result["mechanisms"].items() if part["burn"]}
    assert list(burnt) == ["evidence"]
    assert burnt["evidence"]["wanted"] == 0.5
    assert burnt["evidence"]["shares"] == pytest.approx([0.5, 0.5], abs=1e-4)
    assert burnt["evidence"]["incentive"] > 0.49
    assert all(row["uid"] != burnt["evidence"]["uid"] for row in result["mechanisms"]["evidence"]["miners"])
    spoiled = copy.deepcopy(result)
    spoiled["mechanisms"]["evidence"]["burn"]["shares"] = [0.5, 0.0]
    assert find_failures(spoiled) == ["evidence: validator-2 burns 0.0% instead of 50.0%"]


def test_what_is_not_as_claimed_is_told_and_is_an_error(played, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled = copy.deepcopy(played[0])
    rows = {row["name"]: row for row in spoiled["mechanisms"]["inference"]["miners"]}
    rows["echo"]["incentive"] = rows["voice-1"]["incentive"] = 0.08
    rows["voice-2"]["incentive"] = 0.2
    spoiled["mechanisms"]["chunking"]["validators"][1]["weigh_in"] = "failed"
    spoiled["failures"] = find_failures(spoiled)
    assert "chunking: the weights of validator-2 are not confirmed: failed" in spoiled["failures"]
    assert any(line.startswith("inference: echo earns 8.0%, no less than an honest") for line in spoiled["failures"])

    async def play(*_: object, **__: object) -> int:
        return 1

    async def conclude(_: object) -> dict:
        return spoiled

    monkeypatch.setattr("weighbeam.demo.subnet.open_subnet", lambda *_: nullcontext())
    monkeypatch.setattr("weighbeam.cli.run.demo._play", play)
    monkeypatch.setattr("weighbeam.demo.outcome.conclude", conclude)
    done = CliRunner(env={"COLUMNS": "92"}).invoke(app, ["demo", "--details"])
    assert done.exit_code == 1
    assert "not as it should be: inference: echo earns 8.0%" in done.output
    assert max(map(len, done.output.splitlines())) <= 100
    assert "inference at block" in done.output, "--details prints the tables"


def test_the_honest_must_earn_something_and_more_than_the_others(played) -> None:
    spoiled = copy.deepcopy(played[0])
    for row in spoiled["mechanisms"]["inference"]["miners"]:
        row["incentive"] = 0.0 if row["role"] == "honest" else 0.1
    spoiled["replay"] = {"entries": 1, "equal": False, "faults": ["a: differs"]}
    failures = find_failures(spoiled)
    assert "inference: the honest earn 0.0% of all pay" in failures
    assert sum("is honest and earns nothing" in line for line in failures) == 5
    assert sum("no less than an honest" in line for line in failures) == 7
    assert "replay: a: differs" in failures


@pytest.mark.parametrize(
    ("states", "tries"), [(["confirmed"], 1), (["failed", None, "confirmed"], 3), (["failed"] * 9, 3)]
)
def test_a_weigh_in_that_an_epoch_overtakes_is_tried_again(states: list[str | None], tries: int) -> None:
    made: list[str | None] = []

    class Post:
        async def weigh_in(self) -> SimpleNamespace:
            made.append(states[len(made)])
            return SimpleNamespace(submission=SimpleNamespace(state=made[-1]) if made[-1] else None)

    asyncio.run(weigh_in(Post()))
    assert made == states[:tries]


def count_late(journal: Path) -> Counter[str]:
    """round → how many honest miners this machine was too busy for."""
    with closing(sqlite3.connect(journal)) as db:
        rows = db.execute("SELECT round, hotkey, json_extract(reasons, '$[0]') FROM scores").fetchall()
    return Counter(name for name, hotkey, reason in rows if hotkey in HONEST and reason == "no_chunks")


def test_the_journal_can_be_read(played) -> None:
    _, folder = played
    store = folder / "validator-2.db"
    lines = json.loads(run("journal", "rounds", "--store", store, "--json").stdout)["rounds"]
    counts = Counter(line["mechanism"] for line in lines)
    assert sorted(counts) == ["chunking", "evidence", "inference", "novelty"]
    assert min(counts.values()) >= 2, "further rounds replace those that this machine was late for"
    told = [line for line in lines if line["mechanism"] == "chunking" and not line["void"]]
    assert {(line["state"], line["answers"]) for line in told} == {("scored", 15)}
    late = count_late(store)
    valid = [line["valid"] + late[line["id"]] for line in told]
    assert valid[0] in (7, 8)
    assert set(valid[1:]) <= {7, 8, 9}, "the replayer's one honest reply goes to the first who asks"
    standings = json.loads(run("journal", "leaderboard", "--store", store, "--json").stdout)["standings"]
    ranked = sum(line["standing"] is not None for line in standings)
    assert 7 <= ranked + sum(line["hotkey"] in HONEST for line in standings[ranked:]) <= 9
    assert {line["last_reason"] for line in standings[ranked:]} - {"no_chunks"} == {
        "new_words",
        "out_of_order",
        "malformed",
    }
    report = json.loads(run("journal", "miner-report", standings[0]["hotkey"], "--store", store, "--json").stdout)[
        "scores"
    ]
    assert len(report) >= 2
    assert {line["status"] for line in report} == {"valid"}
    shown = run("journal", "leaderboard", "--store", store, COLUMNS="120").stdout
    assert standings[0]["hotkey"][:5] in shown
    assert shown.startswith("chunking: lower standings are better")
    assert "of 15" in run("journal", "rounds", "--store", store).stdout
    assert run("journal", "miner-report", "nobody", "--store", store).returncode == 2


def test_the_kept_journal_replays_and_a_changed_one_does_not(played, tmp_path: Path) -> None:
    result, folder = played
    assert result["replay"]["equal"]
    journal = copy_database(folder / "validator-1.db", tmp_path / "journal.db")
    done = run("replay", "--store", journal)
    assert done.returncode == 0
    assert "0 differ" in done.stdout
    db = sqlite3.connect(journal)
    db.execute("UPDATE scores SET value = 0.9 WHERE hotkey = (SELECT hotkey FROM scores WHERE value > 0 LIMIT 1)")
    db.commit()
    db.close()
    done = run("replay", "--store", journal)
    assert done.returncode == 1
    assert "scores table does not match" in done.stdout
    lines = [json.loads(line) for line in run("replay", "--store", journal, "--json").stdout.splitlines()]
    assert any(line["fault"] for line in lines)


def test_a_journal_that_is_not_there_is_named() -> None:
    done = run("replay", "--store", "/no/such/journal.db")
    assert done.returncode == 2
    assert "[no_such_file]" in done.stderr


def test_a_folder_in_use_is_refused(played) -> None:
    _, folder = played
    done = run("demo", "--folder", folder)
    assert done.returncode == 2
    assert "[chain_exists]" in done.stderr


def test_the_dashboard_stays_where_it_was_until_told_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weighbeam", "demo", "--rounds", "1", "--stay"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as demo:
        lines = []
        for line in demo.stderr:
            lines.append(line)
            if "stays open until Ctrl-C" in line:
                break
        addresses = [found for line in lines for found in re.findall(r"dashboard: (\S+)", line)]
        with urllib.request.urlopen(addresses[-1], timeout=60) as reply:
            page = reply.read().decode()
        demo.send_signal(signal.SIGINT)
        said = demo.stdout.read()
        assert demo.wait(60) in (0, 1), "1 if one round was too few for what the demo claims"
    assert "Weighbeam" in page
    assert all(f"/mechanisms/{name}" in page for name in ("chunking", "inference", "evidence"))
    assert addresses[0] in lines[0], "where to look comes first"
    assert "Ctrl-C" in lines[0], "and so does how to stop"
    assert set(addresses) == {addresses[0]}
    assert max(map(len, [*lines, *said.splitlines()])) <= 81
    assert not any(tmp_path.iterdir())
