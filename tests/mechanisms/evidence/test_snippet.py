"""The order of the checks, and what is whose fault."""

from typing import Any

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT

GOOD: dict[str, Any] = {
    "statement": "The Great Pyramid of Giza was built around 2560 BC for Pharaoh Khufu.",
    "snippet": {
        "url": "https://www.example.org/giza",
        "excerpt": "Dating to about 2560 BC, it is the oldest of three.",
    },
    "similarity": 0.4,
    "age_days": 4000,
    "page": {"outcome": "read"},
    "match": {"found": True},
    "relevance": 0.6,
    "nli": {"contradiction": 0.1, "neutral": 0.2, "entailment": 0.7},
}


def judge(**changes: Any) -> dict[str, Any]:
    return STAGES_TEXT["evidence.snippet"]({**GOOD, **changes})


def test_the_least_a_snippet_needs() -> None:
    verdict = judge()
    assert (verdict["accepted"], verdict["stance"], verdict["flags"]) == (True, "supports", [])
    assert verdict["score"] == pytest.approx(0.8 * 0.75**2)


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": None},
        {"similarity": None},
        {"similarity": float("nan")},
        {"similarity": 3},
        {"age_days": "old"},
        {"page": None},
        {"page": {"outcome": None}},
        {"page": {"outcome": "fault"}},
        {"page": {"outcome": "read", "title": 7}},
        {"match": None},
        {"match": {"found": None}},
        {"match": {"found": False, "altered": "tone"}},
        {"second_read": "maybe"},
        {"made_for_task": 1},
        {"relevance": None},
        {"nli": None},
        {"nli": {"contradiction": 0.1, "neutral": 0.2, "entailment": 0.72}},
        {"nli": {"contradiction": -0.1, "neutral": 0.4, "entailment": 0.7}},
        {"nli_context": {"contradiction": 1}},
    ],
)
def test_a_missing_fact_is_our_fault(changes: dict[str, Any]) -> None:
    verdict = judge(**changes)
    assert (verdict["accepted"], verdict["reason"], verdict["score"]) == (None, "validator_fault", None)
    assert verdict["domain"] == "example.org"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"snippet": None}, "malformed_url"),
        ({"snippet": {"url": "https://a.com/"}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://a.com/", "excerpt": "one two three four \x00 five"}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://a.com/", "excerpt": "one two three four \ufffd five"}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://a.com/", "excerpt": "one two three four five \ud800"}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://a.com/", "excerpt": "wordy " * 167}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://a.com/", "excerpt": "x y z " * 67}}, "invalid_excerpt"),
        ({"snippet": {"url": "https://bit.ly/x", "excerpt": GOOD["snippet"]["excerpt"]}}, "page_unavailable"),
        ({"page": {"outcome": "empty"}, "match": None}, "page_unavailable"),
        ({"page": {"outcome": "read", "headings": ["We couldn’t find any results"], "noindex": True}}, "search_page"),
        ({"match": {"found": False, "altered": "number"}, "relevance": None, "nli": None}, "snippet_not_found"),
        ({"match": {"found": False, "altered": "meaning"}}, "fake_snippet"),
        ({"second_read": "absent"}, "fake_snippet"),
        ({"made_for_task": True}, "fake_snippet"),
        ({"assessment": {"status": "Unrelated", "is_search": True}, "nli": None}, "unrelated_page"),
        ({"assessment": {"status": "supports", "is_search": True}}, "search_page"),
        ({"statement": "It is the oldest of three."}, None),
        ({"statement": "Dating to about 2560 BC, it is the oldest of"}, "too_similar"),
    ],
)
def test_the_first_check_that_fails(changes: dict[str, Any], reason: str | None) -> None:
    assert judge(**changes)["reason"] == reason


def test_an_assessor_that_may_not_reject() -> None:
    verdict = judge(assessment={"status": "fake"}, params={"assessor_rejects": False})
    assert (verdict["accepted"], verdict["flags"]) == (True, [])


def test_an_assessor_that_says_nothing_known_rejects_nothing() -> None:
    for said in ({"status": "maybe", "is_search": True}, {"status": None}, "fake", 7, []):
        assert judge(assessment=said)["flags"] == ["unassessed"]


def test_context_may_be_left_out() -> None:
    context = {"contradiction": 0.0, "neutral": 1.0, "entailment": 0.0}
    assert judge(nli_context=context)["score"] == 0
    assert judge(nli_context=context, params={"context_rule": "off"})["stance"] == "supports"


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(WeighbeamError, match="bad_outcome"):
        judge(page={"outcome": "splendid"})


@pytest.mark.parametrize(
    ("params", "code"),
    [({"penalty_search": 0}, "unknown_parameter"), ({"penalty_search_url": 1}, "bad_parameter"), (7, "bad_parameter")],
)
@pytest.mark.parametrize("stage", sorted(STAGES_TEXT))
def test_parameters_are_refused_by_every_stage(stage: str, params: object, code: str) -> None:
    with pytest.raises(WeighbeamError, match=code):
        STAGES_TEXT[stage]({"params": params})
