"""Commands that read a journal know miners by name, uid and hotkey, and show no name that steers a terminal."""

import json
import re
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall

from engine.recall import play
from lab.golden_journal import JOURNAL
from warm import weighbeam_warm
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.views.names import CAST
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store
from weighbeam.store.memory import remember

ADA, BEN, EVE = (Hotkey.from_uri(f"//cli//{name}").address for name in ("ada", "ben", "eve"))
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202eeve\u2066"
MECHANISM = ("--mechanism", KeywordRecall.name)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal whose cast names two miners the same, and one as an attack on the terminal."""
    place = tmp_path / "journal.db"
    store = Store(f"sqlite:///{place}")
    play(Journal(store), KeywordRecall(), 0, 1e6, {ADA: "tide moon", BEN: "tide", EVE: None})
    names = ((ADA, "twin"), (BEN, "twin"), (EVE, ESCAPES))
    remember(store, CAST, {hotkey: {"name": name, "role": "honest", "acts": {}} for hotkey, name in names})
    store.close()
    return place


def read(journal: Path, *words: str) -> str:
    done = weighbeam_warm("journal", *words, "--store", journal)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout) & set("\x1b\x07\u202e\u2066")
    return done.stdout


def test_tables_show_names_beside_hotkeys(journal: Path) -> None:
    told = read(journal, "leaderboard", *MECHANISM)
    assert told.count("twin") == 2
    assert f"{ADA[:6]}…{ADA[-5:]}" in told
    assert "]0;owned[2Jeve" in told
    told = read(journal, "round", "keyword-recall-0")
    assert told.count("twin") == 2
    assert f"no answer from ]0;owned[2Jeve · {EVE}: timeout" in told
    lines = json.loads(read(journal, "leaderboard", *MECHANISM, "--json"))["standings"]
    assert {line["hotkey"]: line["name"] for line in lines}[ADA] == "twin"


@pytest.mark.parametrize("given", [BEN, BEN[:12], f"{BEN[:6]}…{BEN[-5:]}"])
def test_a_miner_is_named_by_how_its_hotkey_begins(journal: Path, given: str) -> None:
    told = read(journal, "miner-report", given, *MECHANISM)
    assert f"twin · {BEN}" in told


def test_a_name_of_two_is_refused_with_both(journal: Path) -> None:
    done = weighbeam_warm("journal", "miner-report", "twin", *MECHANISM, "--store", journal)
    assert done.returncode != 0
    assert "ambiguous_miner" in done.stderr
    assert ADA in done.stderr
    assert BEN in done.stderr


def test_an_alias_of_the_settings_names_a_miner(journal: Path) -> None:
    settings = journal.parent / "weighbeam.toml"
    settings.write_text(f'[store]\nurl = "sqlite:///{journal.name}"\n[aliases]\n{ADA} = "Ada of Berlin"\n')
    done = weighbeam_warm("journal", "miner-report", "ada of berlin", *MECHANISM, "--config", settings)
    assert done.returncode == 0, done.stderr
    assert f"Ada of Berlin · {ADA}" in done.stdout
    done = weighbeam_warm("journal", "miner-report", "twin", *MECHANISM, "--config", settings)
    assert f"twin · {BEN}" in done.stdout, "the alias is the only name that ada has now"


@pytest.mark.parametrize("given", [EVE, EVE[:12]])
def test_rounds_are_filtered_by_miner_and_mechanism(journal: Path, given: str) -> None:
    store = Store(f"sqlite:///{journal}")
    play(Journal(store), KeywordRecall(), 1, 1e6 + 60, {ADA: "tide moon"})
    store.close()
    for words, expected in (
        (("--miner", given), ["keyword-recall-0"]),
        (("--miner", ADA, *MECHANISM), ["keyword-recall-1", "keyword-recall-0"]),
        (("--mechanism", "another"), []),
    ):
        found = json.loads(read(journal, "rounds", *words, "--json"))["rounds"]
        assert [line["id"] for line in found] == expected
    done = weighbeam_warm("journal", "rounds", "--miner", "twin", "--store", journal)
    assert "ambiguous_miner" in done.stderr


def test_tokens_are_shown_as_tokens_and_kept_as_units() -> None:
    words = ("leaderboard", "--mechanism", "novelty")
    lines = json.loads(read(JOURNAL, *words, "--json"))["standings"]
    paid = max(lines, key=lambda line: line["standing"])
    assert paid["standing"] >= 10**9, "units"
    told = read(JOURNAL, *words)
    assert "in tokens" in told.splitlines()[0]
    assert f"{paid['standing'] / 10**9:.6g}" in told
    report = read(JOURNAL, "miner-report", paid["hotkey"], "--mechanism", "novelty")
    assert f"standing {paid['standing'] / 10**9:.6g} tokens" in report
    for shown in (told, report):
        assert not re.search(r"(?<![\w-])\d{9}|\d,\d{3},\d{3}", shown), shown


def test_a_table_without_a_row_says_so(journal: Path) -> None:
    assert read(journal, "leaderboard", "--mechanism", "novelty").splitlines()[-1] == "no standings here yet"
    assert read(journal, "rounds", "--mechanism", "another") == "no rounds here yet\n"
