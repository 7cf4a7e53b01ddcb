"""`weighbeam lab validity` as its users meet it: what it prints, what it writes, how it ends."""

import json
from pathlib import Path

import pytest

from weighbeam.cli.main import app

Said = pytest.CaptureFixture[str]


def validity(said: Said, *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        app(["lab", "validity", *map(str, words)])
    out, err = said.readouterr()
    return int(end.value.code or 0), out, err


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    texts = [
        (
            "calm",
            "The ferry leaves at noon from the old harbour.",
            "From the old harbour, the ferry leaves at noon.",
            True,
        ),
        (
            "calm",
            "The ferry leaves at noon from the old harbour.",
            "Bees dance to tell others where flowers are.",
            False,
        ),
        ("\x1b[31mred", "Salt makes ice melt on the roads in winter.", "Violins are made of spruce and maple.", False),
    ]
    file = tmp_path / "pairs.jsonl"
    rows = [{"set": name, "a": a, "b": b, "same": same} for name, a, b, same in texts]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_small_sets_come_with_it(capsys: Said) -> None:
    code, said, _ = validity(capsys, "chunking")
    assert code == 0
    assert "No DATA is named: these are the small sets that come with chunking." in said
    assert "pairwise accuracy" in said
    assert "seed 0" in said


def test_figures_are_printed_and_written(capsys: Said, pairs: Path, tmp_path: Path) -> None:
    page, numbers = tmp_path / "v.html", tmp_path / "v.json"
    code, said, _ = validity(capsys, "novelty", pairs, "--html", page, "--json", numbers, "--seed", 5)
    assert code == 0
    assert "\x1b" not in said
    assert f"written: {page}" in said
    told = json.loads(numbers.read_text())
    assert (told["seed"], told["sample"], told["files"][0]["records"]) == (5, False, 3)
    assert told["kinds"]["pair"]["sets"]["calm"]["findings"]["auc"]["value"] == 1.0
    assert "Do the scores of novelty mean what they claim?" in page.read_text()


def test_json_alone_is_printed(capsys: Said, pairs: Path) -> None:
    words = ("novelty", pairs, "--only", "calm", "--limit", 1, "--set", "max_reward=50", "--json", "-")
    code, said, _ = validity(capsys, *words)
    told = json.loads(said)
    assert code == 0
    assert (told["params"], told["choice"]["limit"]) == ({"max_reward": 50.0}, 1)
    assert {name: one["rows"] for name, one in told["kinds"]["pair"]["sets"].items()} == {"calm": 1}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nothing",), "unknown_mechanism"),
        (("novelty", "{pairs}", "--only", "red"), "no_rows"),
        (("novelty", "{pairs}", "--format", "fever"), "unknown_format"),
        (("inference", "{pairs}"), "unknown_rows"),
        (("novelty", "{pairs}x"), "no_such_file"),
        (("novelty", "{pairs}", "--set", "max_reward=-1"), "bad_params"),
        (("novelty", "{pairs}", "--html", "page.txt"), "bad_report"),
        (("novelty", "{pairs}", "--json", "/nowhere/x.json"), "bad_report"),
        (("novelty", "{pairs}", "--embedder", "nose"), "unknown_embedder"),
    ],
)
def test_mistakes_end_with_a_code_and_a_remedy(words: tuple[str, ...], code: str, capsys: Said, pairs: Path) -> None:
    ended, out, err = validity(capsys, *(word.replace("{pairs}", str(pairs)) for word in words))
    assert ended == 2
    assert code in out + err
    assert "remedy" in out + err
