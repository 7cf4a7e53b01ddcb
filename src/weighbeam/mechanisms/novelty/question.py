"""Contributions from a JSON file, scored as one round from an empty corpus."""

from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import require
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.novelty.observe import read_events
from weighbeam.mechanisms.novelty.params import NoveltyParams

SHAPE = '{"text": "…"}, {"texts": ["…"]} or {"contributions": [{"contributor": "a", "text": "…"}]}'


def read_question(data: Any) -> Asked:
    """One round; the texts of a contributor stay in the order given."""
    rows = _read_rows(data)
    texts: dict[str, list[Any]] = {}
    for contributor, text in rows:
        texts.setdefault(contributor, []).append(text)
    answers = tuple(Answer(name, {"contributions": said}) for name, said in texts.items())
    return Asked(Task("what-if", {}), Group(tuple(texts)), answers, "what-if")


def report_round(params: NoveltyParams, observation: Observation, scored: Scored) -> dict[str, Any]:
    rows = []
    for row, score in zip(observation.facts["contributors"], scored.scores, strict=True):
        found = [
            {
                "id": event.id,
                "status": judged.status,
                "max_similarity": event.similarity / MILLION,
                "nearest": event.nearest,
                "novelty": (MILLION - event.similarity) / MILLION,
                "units": judged.units,
                "held": judged.status == "held",
                "doubts": list(event.doubts),
            }
            for event, judged in ((event, event.judge(params)) for event in read_events(row["events"]))
        ]
        rows.append(
            {"contributor": row["hotkey"], "units": score.value, "contributions": found, "refused": row["refused"]}
        )
    return {"contributors": rows, "senses": observation.facts["senses"]}


def _read_rows(data: Any) -> list[tuple[str, Any]]:
    require(isinstance(data, Mapping), "bad_question", "a question is an object", f"write {SHAPE}")
    if "text" in data:
        return [("you", data["text"])]
    if isinstance(data.get("texts"), list):
        return [("you", text) for text in data["texts"]]
    rows = data.get("contributions")
    sound = isinstance(rows, list) and all(
        isinstance(row, Mapping) and isinstance(row.get("contributor"), str) for row in rows
    )
    require(sound, "bad_question", "there is nothing to score in it", f"write {SHAPE}")
    assert isinstance(rows, list)
    return [(row["contributor"], row.get("text")) for row in rows]
