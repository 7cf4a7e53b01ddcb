"""Whatever answers look like, every round has a defined outcome: through the code of `weighbeam score inference`."""

import json
from typing import Any

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.scoring import ScoreResult, score_question
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.handlers import GARBAGE
from weighbeam.mechanisms.inference.miners.prepared_answers import find_answers, load_prompts
from weighbeam.senses.local import LocalSenses

INFERENCE = Inference()
PROMPT = sorted(load_prompts())[1]
GOOD = list(find_answers(PROMPT))
ARABIC = "المد والجزر ظاهرة طبيعية تحدث بسبب جاذبية القمر والشمس على مياه البحار والمحيطات."
EMOJI = "🌊🌕 " * 30


def judge(senses: LocalSenses, texts: list[Any], **more: Any) -> ScoreResult:
    rows = [{"hotkey": f"m{i}", "text": text, "seconds": 1.0, **more} for i, text in enumerate(texts)]
    return score_question(INFERENCE, {"prompt": PROMPT, "answers": rows}, senses)


def report(senses: LocalSenses, texts: list[Any], **more: Any) -> dict[str, Any]:
    """Everything anybody is shown, which must be plain JSON."""
    judged = judge(senses, texts, **more)
    told = judged.tell(None, None, "0" * 16)
    assert told.text
    for score in judged.scored.scores:
        assert judged.explain(score.hotkey).text
    shown: dict[str, Any] = json.loads(json.dumps(judged.report(), allow_nan=False))
    return shown


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_are_void(senses: LocalSenses, count: int) -> None:
    out = report(senses, GOOD[:count])
    assert out["void"]
    assert set(out["scores"].values()) == set(out["emissions"].values()) == {None}
    assert [alert["code"] for alert in out["alerts"]] == ["void_round"]


def test_three_are_scored(senses: LocalSenses) -> None:
    out = report(senses, GOOD[:3])
    assert not out["void"]
    assert all(emission > 0 for emission in out["emissions"].values())


def test_no_answer_at_all_is_refused(senses: LocalSenses) -> None:
    with pytest.raises(WeighbeamError, match="no_answers"):
        report(senses, [])


def test_all_identical_agree(senses: LocalSenses) -> None:
    out = report(senses, [GOOD[0]] * 4)
    assert (out["consensus_score"], out["achieved"]) == (1.0, True)
    assert len(set(out["emissions"].values())) == 1
    assert out["copies"][0]["hotkeys"] == ["m0", "m1", "m2", "m3"]


@pytest.mark.parametrize("text", [GARBAGE, "", " \n\t", "?!…", "\u200b\u200d", "\x00\x01\x1b[31m"])
def test_nothing_but_garbage_earns_nothing(senses: LocalSenses, text: str) -> None:
    out = report(senses, [text] * 4)
    assert not out["void"]
    assert set(out["emissions"].values()) == {0.0}
    assert "all_low_quality" in [alert["code"] for alert in out["alerts"]]
    assert (out["best"], out["low_confidence"]) == (None, True)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("word " * 209_716, "too_large"),
        ("é" * 40_000, "too_large"),
        ("word " * 2001, "too_large"),
        (None, "malformed"),
        (7, "malformed"),
        (["a"], "malformed"),
        ("\ud800", "malformed"),
    ],
)
def test_one_that_cannot_be_read_is_scored_zero_among_others(senses: LocalSenses, text: Any, status: str) -> None:
    out = report(senses, [*GOOD[:4], text])
    assert (out["scores"]["m4"], out["emissions"]["m4"]) == (0.0, 0.0)
    assert next(row for row in out["answers"] if row["hotkey"] == "m4")["reasons"] == [status]
    assert all(out["emissions"][f"m{i}"] > 0 for i in range(4))


@pytest.mark.parametrize("text", [ARABIC, ARABIC * 40, EMOJI, "\u202e" + GOOD[4], GOOD[4].replace(" ", "\x07 ")])
def test_any_script_is_judged_and_spoils_nothing(senses: LocalSenses, text: str) -> None:
    out = report(senses, [*GOOD[:4], text])
    assert out["scores"]["m4"] is not None
    assert all(out["emissions"][f"m{i}"] > 0 for i in range(4))


@pytest.mark.parametrize("claim", ["very", "NaN", [1], {}, True, -5, 10**400, None])
def test_a_confidence_is_a_number_or_a_half(senses: LocalSenses, claim: Any) -> None:
    out = report(senses, GOOD[:4], confidence=claim)
    if claim == -5:
        assert out["parts"] == report(senses, GOOD[:4], confidence=0.0)["parts"]
    else:
        assert {parts["confidence"] for parts in out["parts"].values()} == {7.5}


@pytest.mark.parametrize("seconds", [0, -3, 1e9])
def test_times_are_limited(senses: LocalSenses, seconds: float) -> None:
    out = report(senses, GOOD[:4], seconds=seconds)
    assert set(out["speed"].values()) == {1.0}


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), "soon", True])
def test_a_time_that_is_none_is_refused(senses: LocalSenses, seconds: Any) -> None:
    with pytest.raises(WeighbeamError, match="bad_seconds"):
        report(senses, GOOD[:4], seconds=seconds)
