"""`weighbeam demo` and `weighbeam replay`: a real subnet in real processes, and its journal computed again."""

import json
import sqlite3
from pathlib import Path

import pytest

from command import weighbeam as run


@pytest.fixture(scope="module")
def played(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    folder = tmp_path_factory.mktemp("demo") / "subnet"
    done = run("demo", "--rounds", 2, "--folder", folder, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout), folder


def test_the_honest_are_paid_and_the_hostile_are_not(played) -> None:
    result, _ = played
    pay = {row["name"]: row["incentive"] for row in result["miners"]}
    role = {row["name"]: row["role"] for row in result["miners"]}
    assert sum(pay.values()) > 0.99
    honest = sum(value for name, value in pay.items() if role[name] == "honest")
    assert honest > 0.8
    reasons = {row["name"]: row["reason"] for row in result["miners"] if row["reason"]}
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


def test_every_miner_has_an_address_of_its_own(played) -> None:
    result, _ = played
    hosts = {row["endpoint"].split(":")[0] for row in result["miners"]}
    assert len(hosts) == len(result["miners"]) == 15


def test_both_validators_agree_and_share_the_dividends(played) -> None:
    result, _ = played
    assert [row["dividends"] > 0 for row in result["validators"]] == [True, True]
    assert result["validators"][0]["dividends"] > result["validators"][1]["dividends"]


def test_the_journal_can_be_read(played) -> None:
    _, folder = played
    store = folder / "validator-2.db"
    told = json.loads(run("rounds", "--store", store, "--json").stdout)["rounds"]
    assert [(line["state"], line["answers"]) for line in told] == [("scored", 15)] * 2
    assert told[0]["valid"] in (7, 8)
    assert told[1]["valid"] in (7, 8, 9), "the replayer's one honest reply goes to whoever asks first"
    standings = json.loads(run("leaderboard", "--store", store, "--json").stdout)["standings"]
    ranked = sum(line["standing"] is not None for line in standings)
    assert 7 <= ranked <= 9
    assert {line["last_reason"] for line in standings[ranked:]} - {"no_chunks"} == {
        "new_words",
        "out_of_order",
        "malformed",
    }
    report = json.loads(run("miner-report", standings[0]["hotkey"], "--store", store, "--json").stdout)["scores"]
    assert [line["status"] for line in report] == ["valid", "valid"]
    assert standings[0]["hotkey"] in run("leaderboard", "--store", store, COLUMNS="120").stdout
    assert "of 15" in run("rounds", "--store", store).stdout
    assert run("miner-report", "nobody", "--store", store).returncode == 2


def test_the_kept_journal_replays_and_a_changed_one_does_not(played) -> None:
    result, folder = played
    assert result["replay"]["equal"]
    journal = folder / "validator-1.db"
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
