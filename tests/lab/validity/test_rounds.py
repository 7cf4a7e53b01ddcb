"""Labelled rounds: the public formats of answers, and what is measured of scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from weighbeam import Mechanism
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.answer_sets import ANSWER_FORMATS
from weighbeam.lab.validity.measures import Measured
from weighbeam.lab.validity.records import DataRecord
from weighbeam.lab.validity.rounds import RoundRow, ScoredAnswers, make_round_kind, measure_rounds
from weighbeam.mechanism.params import Params
from weighbeam.senses.local import LocalSenses

FORMATS = {form.name: form for form in ANSWER_FORMATS}


def convert(name: str, *rows: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    form = FORMATS[name]
    records = [DataRecord("x.jsonl", line, row) for line, row in enumerate(rows, start=1)]
    assert all(form.fits(one.fields) for one in records)
    return [None if one is None else one.fields for one in form.convert(records)]


def list_texts(row: Mapping[str, Any] | None) -> dict[str, str]:
    assert row is not None
    return {one["hotkey"]: one["text"] for one in row["question"]["answers"]}


def test_right_and_wrong_answers() -> None:
    row = {
        "set": "sums",
        "kind": "maths",
        "prompt": "2 + 2?",
        "prose": False,
        "answers": {"a": "4", "b": "5", "c": "four"},
    }
    (got,) = convert("named-answers", {**row, "good": ["a", "c"], "bad": ["b"]})
    assert got is not None
    assert (got["set"], got["question"]["prose"], list_texts(got)["b"]) == ("sums", False, "5")
    assert got["pairs"] == [("a", "b"), ("c", "b")]
    (given,) = convert("named-answers", {**row, "pairs": [["c", "a"]]})
    assert given is not None
    assert given["pairs"] == [["c", "a"]]
    with pytest.raises(WeighbeamError, match=r"bad_rows: x.jsonl:1: answers must map names to texts"):
        convert("named-answers", {**row, "answers": {"a": 4}})


def test_alpaca_eval_outputs_and_annotations() -> None:
    def prefer(preference: Any, first: str = "a", second: str = "b") -> dict[str, Any]:
        texts = {"a": "short", "b": "longer", "c": "third"}
        return {
            "instruction": "Say it.", "output_1": texts[first], "generator_1": first, "output_2": texts[second],
            "generator_2": second, "preference": preference,
        }  # fmt: skip

    output = {"instruction": "Say it.", "output": "third", "generator": "c"}
    (got,) = convert("alpaca-eval", output, prefer(1.1), prefer(2, "b", "a"), prefer(1.9), prefer(1.5, "c", "a"))
    assert got is not None
    assert (got["set"], got["pairs"]) == ("alpaca-eval", [("a", "b")])
    assert list_texts(got) == {"c": "third", "a": "short", "b": "longer"}
    assert convert("alpaca-eval", output) == [None]
    assert convert("alpaca-eval", prefer(None)) == [None]
    assert convert("alpaca-eval", prefer(0)) == [None]
    for bad in (3, "1", True):
        with pytest.raises(WeighbeamError, match=r"bad_rows: x.jsonl:1: preference"):
            convert("alpaca-eval", prefer(bad))


def test_mt_bench_questions_answers_and_judgments() -> None:
    question = {"question_id": 81, "category": "writing", "turns": ["Write.", "Again."]}
    answers = [
        {"question_id": 81, "model_id": name, "choices": [{"index": 0, "turns": [f"{name} says", "more"]}]}
        for name in ("x", "y", "z")
    ]
    votes = [
        {"question_id": 81, "model_a": "y", "model_b": "x", "winner": won, "turn": turn}
        for won, turn in (("model_a", 1), ("model_a", 1), ("model_b", 1), ("model_b", 2), ("model_b", 2), ("tie", 1))
    ]
    twice = {"question_id": 81, "model_1": "z", "model_2": "y", "turn": 1}
    (got,) = convert(
        "mt-bench", question, *answers, *votes, {**twice, "g1_winner": "model_2", "g2_winner": "model_2"},
        {**twice, "model_2": "x", "g1_winner": "model_1", "g2_winner": "tie"},
    )  # fmt: skip
    assert got is not None
    assert (got["set"], got["question"]["prompt"]) == ("mt-bench", "Write.")
    assert sorted(got["pairs"]) == [("y", "x"), ("y", "z")]
    assert list_texts(got)["z"] == "z says"


def test_mt_bench_judgments_may_bring_the_answers() -> None:
    def talk(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "Write."}, {"role": "assistant", "content": text}]

    vote = {"question_id": 1, "model_a": "x", "model_b": "y", "winner": "model_b", "turn": 1}
    (got,) = convert("mt-bench", {**vote, "conversation_a": talk("one"), "conversation_b": talk("two")})
    assert got is not None
    assert (got["pairs"], list_texts(got)) == ([("y", "x")], {"x": "one", "y": "two"})
    assert convert("mt-bench", vote) == [None]
    with pytest.raises(WeighbeamError, match=r"conversation_a.1.content must be a string"):
        convert("mt-bench", {**vote, "conversation_a": talk("one")[:1]})
    with pytest.raises(WeighbeamError, match=r"question_id must be a number"):
        convert("mt-bench", {**vote, "question_id": []})


def make_row(texts: Mapping[str, str], **labels: Any) -> RoundRow:
    answers = [{"hotkey": name, "text": text} for name, text in texts.items()]
    return RoundRow(set="s", question={"answers": answers}, **labels)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({"pairs": [("a", "z")]}, "no answer is called 'z'"),
        ({"pairs": [("a", "a")]}, "both better and worse"),
        ({"good": ["a"], "bad": ["a"]}, "both better and worse"),
        ({"honest": ["y"]}, "no answer is called 'y'"),
        ({"pairs": ["ab"]}, "pairs"),
        ({"good": "a"}, "good"),
    ],
)
def test_labels_name_answers(labels: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        make_row({"a": "x", "b": "y"}, **labels)


@pytest.mark.parametrize("answers", [None, "text", [1], [{"hotkey": "a"}, {"hotkey": "a"}]])
def test_a_question_without_proper_answers_is_refused(answers: Any) -> None:
    with pytest.raises(ValidationError, match="answers"):
        RoundRow(set="s", question={"answers": answers}, pairs=[("a", "b")])


def judge(scores: Mapping[str, float | None], best: str | None = None, refused: Sequence[str] = ()) -> ScoredAnswers:
    return ScoredAnswers(scores, frozenset(refused), best, None)


def values(measured: Measured) -> dict[str, float]:
    return {name: one.value for name, one in measured.findings.items()}


def test_figures_by_hand() -> None:
    rows = [
        make_row({"a": "xx", "b": "x", "c": "xxx"}, pairs=[("a", "b"), ("a", "c")], good=["a"], bad=["b"]),
        make_row({"a": "x", "b": "x"}, pairs=[("a", "b")], good=["a"], bad=["b"], honest=["a"]),
    ]
    outcomes = [judge({"a": 2, "b": 1, "c": 3}, "c", ["b"]), judge({"a": 0.5, "b": 0.5}, "a", ["a"])]
    got = values(measure_rounds(rows, outcomes, np.random.default_rng(0)))
    assert got == pytest.approx({
        "pairwise_accuracy": (1 + 0 + 0.5) / 3, "accuracy_if_shorter": 0.0, "length_alone": (1 + 0 + 0.5) / 3,
        "best_is_right": 0.5, "honest_refused": 0.5, "right_refused": 0.5,
    })  # fmt: skip


def test_an_unscored_answer_is_in_no_pair() -> None:
    row = make_row({"a": "x", "b": "y", "c": "z"}, pairs=[("a", "b"), ("b", "c")])
    got = values(measure_rounds([row], [judge({"a": None, "b": 2, "c": 1})], np.random.default_rng(0)))
    assert got["pairwise_accuracy"] == 1.0
    assert got["unscored"] == pytest.approx(1 / 3)


class Brief(Mechanism):
    """Answer in few words."""

    name = "brief"

    def measure(self, task: Any, reply: Any, senses: Any) -> dict[str, Any]:
        if not reply["text"]:
            self.refuse("empty")
        return {"words": len(reply["text"].split())}

    def grade(self, params: Any, facts: Mapping[str, Any]) -> dict[str, float]:
        return {"words": float(facts["words"])}


class Briefest(Brief):
    """The fewer words, the lower the score, and the better."""

    better = "lower"


def test_scores_are_turned_so_that_higher_is_better() -> None:
    row = make_row({"a": "one", "b": "one two", "c": ""}, pairs=[("a", "b"), ("b", "c")])
    for mechanism, expected in ((Briefest(), [-1.0, -2.0, -np.inf]), (Brief(), [1.0, 2.0, 0.0])):
        (got,) = make_round_kind(mechanism).judge(Params(), [row], LocalSenses())
        assert list(got.scores.values()) == expected
        assert got.refused == {"c"}


def test_a_question_that_the_mechanism_refuses_is_named_by_its_line() -> None:
    row = RoundRow(set="s", question={"answers": [{"hotkey": "a", "seconds": "soon"}]})
    row.put("rows.jsonl:7")
    with pytest.raises(WeighbeamError, match=r"bad_rows: rows.jsonl:7: .*\[bad_seconds\]"):
        list(make_round_kind(Brief()).judge(Params(), [row], LocalSenses()))
