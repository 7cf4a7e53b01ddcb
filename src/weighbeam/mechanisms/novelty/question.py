"""Questions from a JSON file, scored as one round from an empty corpus, and example rounds for checks."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import require
from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Reply, Scored, Task
from weighbeam.mechanisms.novelty.observe import parse_events
from weighbeam.mechanisms.novelty.params import NoveltyParams

OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry one of them away from the others."
DRIFT = "While sleeping, sea otters hold each other's hands so as not to drift apart."
BRIDGE = "A steel bridge is about thirty centimetres longer on a summer afternoon than on the coldest night of winter."
BREAD = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more than flour and yeast."
Given = tuple[str, object, Reply]


def example_rounds() -> Sequence[Asked]:
    """Two rounds: new and old, hidden and buried copies, gibberish, refusals; then one with nothing to pay."""
    filler = " ".join(f"Line {i} of a long list says nothing that anybody would want to read again." for i in range(40))
    given: list[Given] = [
        ("first", {"contributions": [OTTERS, BRIDGE]}, "ok"),
        ("copier", {"contributions": [f"  {OTTERS.upper()}\u200b"]}, "ok"),
        (
            "paraphrase",
            {"contributions": [DRIFT]},
            "ok",
        ),
        ("buried", {"contributions": [f"{filler} {OTTERS} {filler}"]}, "ok"),
        ("baker", {"contributions": [BREAD]}, "ok"),
        ("keyboard", {"contributions": ["xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"]}, "ok"),
        ("terse", {"contributions": ["too short", 7, "bell \x07 in a text"]}, "ok"),
        ("shapeless", ["no object"], "ok"),
        ("our-fault", {"contributions": [BREAD]}, "validator_error"),
    ]
    return _round("example-1", given, 0.0), _round("example-2", given[-3:], 90_000.0)


def _round(name: str, given: Sequence[Given], at: float) -> Asked:
    answers = tuple(Answer(hotkey, payload, 0.0, status) for hotkey, payload, status in given)
    group = Group(tuple(answer.hotkey for answer in answers))
    return Asked(Task(name, {}), group, answers, f"seed-of-{name}", at=at)


FILE_KEYS: Mapping[str, Sequence[str]] = {
    "": ("text", "texts", "contributions"),
    "contributions": ("contributor", "text"),
}
SHAPE = '{"text": "…"}, {"texts": ["…"]} or {"contributions": [{"contributor": "a", "text": "…"}]}'


def parse_question(data: Any) -> Asked:
    """One round; the texts of a contributor stay in the order given."""
    rows = _parse_rows(data)
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
                "similarity": (MILLION if event.duplicate else event.value(params).similarity) / MILLION,
                "nearest": event.nearest,
                "novelty": (MILLION - event.similarity) / MILLION,
                "units": judged.units,
                "held": judged.status == "held",
                "doubts": list(event.doubts),
            }
            for event, judged in ((event, event.judge(params)) for event in parse_events(row["events"]))
        ]
        rows.append(
            {"contributor": row["hotkey"], "units": score.value, "contributions": found, "refused": row["refused"]}
        )
    return {"contributors": rows, "senses": observation.facts["senses"]}


def _parse_rows(data: Any) -> list[tuple[str, Any]]:
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
