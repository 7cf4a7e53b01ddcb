"""`weighbeam lab` as its users meet it: what it prints, what it writes, how it ends."""

import json
from pathlib import Path

import pytest

from weighbeam.cli.main import app
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.report.records import load_record

Said = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).parents[3] / "golden" / "0.1.0" / "journal.sqlite"
ONE = ("inference/instant-garbage", "--seeds", 1, "--rounds", 4, "--workers", 1)


def lab(said: Said, *words: object) -> tuple[int, str]:
    """In this process, whose senses are awake already: how the command ends, and what it prints."""
    with pytest.raises(SystemExit) as end:
        app(["lab", *map(str, words)])
    return int(end.value.code or 0), said.readouterr().out


def test_the_catalogue_can_be_read(capsys: Said) -> None:
    code, told = lab(capsys, "list", "--json")
    assert code == 0
    assert [json.loads(line)["name"] for line in told.splitlines()] == [one.name for one in list_attacks()]
    assert "inference/copycat" in lab(capsys, "list", "copycat")[1]


def test_an_attack_is_played_and_reported(capsys: Said, tmp_path: Path) -> None:
    page = tmp_path / "lab.html"
    code, said = lab(capsys, "attack", *ONE, "--set", "quality_threshold=0.4", "--report", page, "--json")
    told = json.loads(said)
    assert code == 0
    outcome = told["outcomes"]["inference/instant-garbage"]
    assert (outcome["profit"]["value"], outcome["verdict"]) == (0.0, "unclear")
    assert told["params"] == {"inference": {"quality_threshold": 0.4}}
    assert load_record(page.with_suffix(".json")).seeds == (0,)
    assert "instant-garbage" in page.read_text()
    again = tmp_path / "again.html"
    assert lab(capsys, "report", page.with_suffix(".json"), "--out", again)[0] == 0
    assert again.read_text() == page.read_text()


def test_a_season_is_simulated(capsys: Said) -> None:
    words = ("simulate", "--mechanism", "inference", "--honest", 6, "--attack", "copycat=2", "--rounds", 8)
    first, second = lab(capsys, *words, "--json"), lab(capsys, *words, "--json")
    assert first == second
    told = json.loads(first[1])
    assert (len(told["honest"]), told["attackers"]) == (6, ["copycat-000", "copycat-001"])
    assert "copycat-001" in lab(capsys, *words)[1]


def test_seasons_of_a_journal_leave_it_as_it_is(capsys: Said, tmp_path: Path) -> None:
    kept = GOLDEN.read_bytes()
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(kept)
    words = ("simulate", "--mechanism", "inference", "--journal", journal, "--seasons", 3, "--rounds", 12)
    code, told = lab(capsys, *words, "--set", "quality_threshold=0.3", "--json")
    assert code == 0
    assert sum(lot["share"]["value"] for lot in json.loads(told)["lots"]) == pytest.approx(1)
    chunked = ("simulate", "--mechanism", "chunking", *words[3:], "--set", "num_embeddings=5")
    with pytest.raises(SystemExit) as end:
        app(list(map(str, ("lab", *chunked))))
    assert end.value.code == 2
    assert "not_observed" in capsys.readouterr().err
    assert journal.read_bytes() == kept
    assert [file.name for file in tmp_path.iterdir()] == [journal.name]


def test_a_sweep_is_a_table(capsys: Said) -> None:
    words = ("--mechanism", "inference", "--grid", "quality_threshold=0.35,0.6", "--attack", "instant-garbage")
    code, told = lab(capsys, "sweep", *words, "--seeds", 1, "--rounds", 4, "--workers", 1)
    assert code == 0
    assert "default" in told
    assert "0.6" in told


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("attack alchemy", "unknown_attack"),
        ("attack inference --set alchemy=1", "bad_params"),
        ("attack inference --set quality_threshold=loud", "bad_params"),
        ("attack inference --set evidence.snippets=1", "bad_setting"),
        ("attack inference --set quality_threshold", "bad_setting"),
        ("attack inference --report lab.txt", "bad_report"),
        ("attack inference --report no/such/folder/lab.html", "bad_report"),
        ("attack inference --seeds 3 --expect", "not_comparable"),
        ("attack inference --write-expectations", "not_comparable"),
        ("attack inference --rounds 1", "bad_rounds"),
        ("attack inference --seeds 0", "bad_seeds"),
        ("attack inference --workers 9999", "bad_workers"),
        ("sweep --mechanism alchemy --grid top=1", "unknown_attack"),
        ("sweep --mechanism inference --grid alchemy=1,2", "bad_params"),
        ("sweep --mechanism inference --grid quality_threshold=", "bad_grid"),
        ("sweep --mechanism inference --grid quality_threshold=0.1 --attack weight-copying", "unknown_attack"),
        ("attack weight-copying --set tempo=never", "bad_params"),
        ("year --validators 3 --copiers 3", "bad_population"),
        ("year --miners 1", "bad_population"),
        ("simulate --mechanism alchemy", "unknown_mechanism"),
        ("simulate --mechanism inference --attack alchemy=2", "unknown_attack"),
        ("simulate --mechanism inference --attack copycat", "bad_population"),
        ("simulate --mechanism inference --attack copycat=9999", "bad_population"),
        ("simulate --mechanism inference --honest 0", "bad_population"),
        ("simulate --mechanism chunking --journal no-such.db", "no_such_file"),
        ("simulate --mechanism chunking --journal no-such.db --honest 3", "bad_population"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(capsys: Said, words: str, code: str) -> None:
    ended, told = lab(capsys, *words.split(), "--json")
    assert (ended, json.loads(told)["error"]) == (2, code)
