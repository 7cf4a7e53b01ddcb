"""The bench as a whole: what it loads, refuses, averages and writes, for a mechanism that nobody here knows."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.report.test_report import Tags
from tests_root import ROOT
from weighbeam import Mechanism
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.kinds import LabelledRow, RowFormat, RowKind, has_fields
from weighbeam.lab.validity.measures import Findings, Measured
from weighbeam.lab.validity.page import format_command, render_validity
from weighbeam.lab.validity.run import RowChoice, ValidityResult, format_result, list_kinds, load_rows, run_validity
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses

FOUR = ("chunking", "evidence", "inference", "novelty")
HOSTILE = "<script>alert(1)</script>\"' onload=x \u202e"


class Spelling(LabelledRow):
    word: str
    right: bool


def judge_words(params: Any, rows: Sequence[Spelling], senses: Any) -> Iterator[bool]:
    return (row.word.islower() for row in rows)


def measure_words(rows: Sequence[Spelling], outcomes: Sequence[bool], chance: np.random.Generator) -> Measured:
    found = Findings(chance)
    found.share("agreement", (row.right == one for row, one in zip(rows, outcomes, strict=True)))
    return Measured(found.found)


WORDS = RowKind(
    "word", Spelling, (RowFormat("word", has_fields("word", "right")),), judge_words, measure_words,
    {"agreement": "the word is spelt as labelled"},
)  # fmt: skip


class Fifth(Mechanism):
    """Write in small letters."""

    name = "fifth"

    def measure(self, task: Any, reply: Any, senses: Any) -> dict[str, Any]:
        return {"letters": len(reply["text"])}

    def grade(self, params: Any, facts: Mapping[str, Any]) -> dict[str, float]:
        return {"letters": facts["letters"] / 100}


class FifthWithRows(Fifth):
    """Has rows of its own."""

    def row_kinds(self) -> Sequence[Any]:
        return (WORDS,)


def write(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def run(mechanism: Mechanism, *places: Path, seed: int = 0, **choice: Any) -> ValidityResult:
    chosen = RowChoice(**choice)
    return run_validity(mechanism, Params(), load_rows(mechanism, places, chosen), LocalSenses(), seed, chosen)


def make_round(name: str, better: int, worse: int, **labels: Any) -> dict[str, Any]:
    answers = [{"hotkey": "a", "text": "x" * better}, {"hotkey": "b", "text": "x" * worse}]
    return {"set": name, "question": {"answers": answers}, "pairs": [["a", "b"]], **labels}


def test_a_fifth_mechanism_is_held_against_rounds(tmp_path: Path) -> None:
    rows = [make_round("one", 9, 5), make_round("one", 5, 9), make_round("two", 9, 5)]
    (kind,) = run(Fifth(), write(tmp_path / "x.jsonl", *rows)).kinds
    assert kind.kind == "round"
    assert {name: one.measured.findings["pairwise_accuracy"].value for name, one in kind.sets.items()} == {
        "one": 0.5,
        "two": 1.0,
    }
    assert (kind.mean["pairwise_accuracy"].value, kind.mean["pairwise_accuracy"].cases) == (0.75, 3)


def test_a_fifth_mechanism_has_rows_of_its_own(tmp_path: Path) -> None:
    file = write(tmp_path / "own.jsonl", {"word": "tide", "right": True}, {"word": "Tide", "right": True})
    result = run(FifthWithRows(), file)
    (kind,) = result.kinds
    assert (kind.kind, list(kind.sets), kind.mean["agreement"].value) == ("word", ["own"], 0.5)
    assert "the word is spelt as labelled" in render_validity(result)
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*own.jsonl:1: right: Input should be a valid boolean"):
        run(FifthWithRows(), write(tmp_path / "own.jsonl", {"word": "tide", "right": "perhaps"}))


@pytest.mark.parametrize("found", [("rows",), (WORDS, WORDS), None])
def test_kinds_that_are_none_are_refused(found: Any) -> None:
    mechanism = type("Odd", (Fifth,), {"row_kinds": lambda self: found})()
    with pytest.raises(WeighbeamError, match=r"(bad|broken)_mechanism: row_kinds of 'fifth'"):
        list_kinds(mechanism)


def test_a_fault_of_a_package_is_named(tmp_path: Path) -> None:
    def fail(params: Any, rows: Sequence[Any], senses: Any) -> Iterable[Any]:
        raise ZeroDivisionError("no words")

    odd = RowKind("word", Spelling, WORDS.formats, fail, measure_words)
    mechanism = type("Odd", (Fifth,), {"row_kinds": lambda self: (odd,)})()
    with pytest.raises(WeighbeamError, match="broken_mechanism: judge of word rows of 'fifth' raised"):
        run(mechanism, write(tmp_path / "x.jsonl", {"word": "tide", "right": True}))


def test_sets_rows_and_formats_are_chosen(tmp_path: Path) -> None:
    rows = [make_round("one", n, 5) for n in range(6, 16)] + [make_round("two", 9, 5)]
    file = write(tmp_path / "x.jsonl", *rows)
    (kind,) = run(Fifth(), file, only=("one",), limit=4).kinds
    assert {name: one.rows for name, one in kind.sets.items()} == {"one": 4}
    with pytest.raises(WeighbeamError, match="no_rows"):
        run(Fifth(), file, only=("three",))
    with pytest.raises(WeighbeamError, match=r"unknown_format: 'fever' .*alpaca-eval"):
        run(Fifth(), file, format="fever")
    with pytest.raises(WeighbeamError, match=r"unknown_rows: .*x.jsonl:1: fields set, question, pairs fit no format"):
        run(Fifth(), file, format="mt-bench")


def test_a_mechanism_without_rows_asks_for_them() -> None:
    with pytest.raises(WeighbeamError, match="no_rows: fifth comes with no labelled rows"):
        run(Fifth())


def test_nothing_is_half_read(tmp_path: Path) -> None:
    good, bad = make_round("one", 9, 5), make_round("one", 9, 5, good=["nobody"])
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*x.jsonl:2: the whole: no answer is called 'nobody'"):
        run(Fifth(), write(tmp_path / "x.jsonl", good, bad, good))


def test_the_same_seed_finds_the_same_and_another_set_changes_nothing(tmp_path: Path) -> None:
    rows = [make_round("one", 4 + (n * 7) % 11, 9) for n in range(20)]
    alone, file = write(tmp_path / "x.jsonl", *rows), write(tmp_path / "y.jsonl", *rows, make_round("two", 9, 5))
    first, again, other = run(Fifth(), alone), run(Fifth(), alone), run(Fifth(), alone, seed=1)
    assert first == again
    assert first.kinds[0].sets != other.kinds[0].sets
    assert run(Fifth(), file).kinds[0].sets["one"] == first.kinds[0].sets["one"]


def test_the_page_shows_strangers_names_as_text(tmp_path: Path) -> None:
    rows = [make_round(HOSTILE, 9, 5), make_round("two", 9, 5)]
    result = run(Fifth(), write(tmp_path / f"{HOSTILE.replace('/', '')}.jsonl", *rows))
    page = render_validity(result)
    tags = Tags(page)
    assert "script" not in tags.tags
    assert tags.links == []
    assert "&lt;script&gt;alert(1)" in page
    json.dumps(format_result(result), allow_nan=False)


def test_the_command_is_told(tmp_path: Path) -> None:
    file = write(tmp_path / "x y.jsonl", make_round("a b", 9, 5))
    result = run(Fifth(), file, only=("a b",), limit=2, format="round", seed=3)
    told = f"weighbeam lab validity fifth '{file}' --only 'a b' --limit 2 --format round --seed 3"
    assert format_command(result) == told


@pytest.mark.parametrize("name", FOUR)
def test_every_mechanism_comes_with_rows(name: str) -> None:
    found = load_rows(load_mechanism(name), (), RowChoice())
    assert found.is_sample
    assert sum(len(rows) for sets in found.rows.values() for rows in sets.values()) >= 4


def test_every_kind_format_and_figure_is_explained() -> None:
    page = (ROOT / "docs" / "guides/validity.md").read_text("utf-8")
    kinds = [kind for name in FOUR for kind in list_kinds(load_mechanism(name))]
    named = {name for kind in kinds for name in (kind.name, *kind.meanings, *(form.name for form in kind.formats))}
    assert len(named) > 30
    assert sorted(name for name in named if f"`{name}`" not in page) == []
