"""What the stages refuse, and in which order."""

import math
from typing import Any

import pytest

from weighbeam.engine.vectors import call_stage
from weighbeam.mechanisms.inference.stages import STAGES

PAIR = [[1.0, 0.8], [0.8, 1.0]]


def answer(hotkey: str, **rest: Any) -> dict[str, Any]:
    return {"hotkey": hotkey, "quality": 0.6, "words": 50, **rest}


def refuse(stage: str, **given: Any) -> str | None:
    return call_stage(STAGES[f"inference.{stage}"], given).get("error")


@pytest.mark.parametrize("stage", ["filter", "score"])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"params": {"nope": 1, "quality_threshold": 7}, "similarity": []}, "unknown_parameter"),
        ({"params": {"quality_threshold": 1.01}, "similarity": []}, "bad_parameter"),
        ({"params": {"quality_sensitivity": -0.1}}, "bad_parameter"),
        ({"params": {"lof_min_voices": 2}}, "bad_parameter"),
        ({"params": {"lambda_factor": math.nan}}, "bad_parameter"),
        ({"params": {"speed_min": 2.0}}, "bad_parameter"),
        ({"params": {"clustering": 1}}, "bad_parameter"),
        ({"params": [1]}, "bad_parameter"),
        ({"similarity": [[1.0, 0.8]]}, "bad_shape"),
        ({"similarity": [[1.0, 0.8], [0.8]]}, "bad_shape"),
        ({"similarity": None}, "bad_shape"),
        ({"similarity": [[1.0, 1.2], [0.3, 1.0]]}, "bad_cosine"),
        ({"similarity": [[1.0, math.nan], [math.nan, 1.0]]}, "bad_cosine"),
        ({"similarity": [[1.0, None], [None, 1.0]]}, "bad_cosine"),
        ({"similarity": [[1.0, "x"], ["x", 1.0]]}, "bad_cosine"),
        ({"similarity": [[1.0, 0.8], [0.7, 1.0]], "answers": [answer("a"), answer("a")]}, "not_symmetric"),
        ({"answers": [answer("a"), answer("a")]}, "duplicate_hotkey"),
        ({"answers": 7}, "bad_shape"),
        ({"answers": [answer("a"), {"hotkey": "b"}]}, "bad_shape"),
        ({"answers": [answer("a"), answer("b", words=-1)]}, "bad_shape"),
        ({"answers": [answer("a"), answer("b", quality=math.inf)]}, "bad_shape"),
        ({"overlap": [[1.0]]}, "bad_shape"),
    ],
)
def test_errors_in_their_order(stage: str, change: dict[str, Any], code: str) -> None:
    given = {"answers": [answer("b"), answer("a")], "similarity": PAIR, **change}
    assert refuse(stage, **given) == code


def test_a_bad_status_is_the_last_thing_found() -> None:
    meh = {"hotkey": "c", "status": "meh"}
    assert refuse("score", answers=[answer("a"), answer("b"), meh], similarity=PAIR) == "bad_status"
    assert refuse("score", answers=[answer("a"), answer("a"), meh], similarity=PAIR) == "duplicate_hotkey"


@pytest.mark.parametrize("text", ["", "One sentence here.", "\x00\x07", "مرحبا بالعالم", "🌉🔥", "e" + "\u0301" * 5000])
def test_any_text_has_a_quality(text: str) -> None:
    stage = STAGES["inference.quality"]
    sentences = 0 if text in ("", "\x00\x07", "🌉🔥") else 1
    given = {"prompt": "Why?", "text": text, "prompt_cosine": 0.5, "sentence_cosines": [0.5] * sentences}
    result = call_stage(stage, {**given, "neighbour_cosines": []})
    assert 0 <= result["quality"] <= 1
    assert result["sentences"] == sentences


def test_a_round_of_texts_takes_overlap_and_polarity_from_them() -> None:
    same = "No, granite is harder than marble because it holds quartz and feldspar from slow cooling."
    other = "Yes, marble is harder, since pressure in the mountains of Carrara has baked the limestone for ages."
    cosines = {"prompt_cosine": 0.7, "sentence_cosines": [0.7], "neighbour_cosines": []}
    rows = [{"hotkey": key, "text": text, **cosines} for key, text in (("a", same), ("b", same), ("c", other))]
    given = {
        "prompt": "Is marble harder than granite?",
        "answers": rows,
        "similarity": [[1, 1, 0.8], [1, 1, 0.8], [0.8, 0.8, 1]],
        "params": {"polarity_clustering": True},
    }
    result = call_stage(STAGES["inference.score"], given)
    assert result["groups"] == [["a", "b"]]
    assert result["agreement"] == pytest.approx(0.5, abs=0.1)
    assert not result["achieved"]
    for row in rows:
        row["polarity"] = None
    assert call_stage(STAGES["inference.score"], given)["agreement"] is None
