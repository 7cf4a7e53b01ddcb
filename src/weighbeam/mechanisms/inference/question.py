"""The JSON of `weighbeam score inference`: read a question, write its result."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reading import read_outcome
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.mechanisms.inference.task import has_lone_surrogate, read_body

SHAPE = '{"prompt": "…", "answers": [{"hotkey": "a", "text": "…", "seconds": 1.5}]}'
BODY = ("prompt", "messages", "prose", "max_tokens")


def read_question(data: Any) -> Asked:
    """One round out of `{prompt | messages, prose?, answers: [{hotkey, text, seconds, confidence?, entity?}]}`."""
    require(isinstance(data, Mapping), "bad_question", "the file is not a JSON object", f"write {SHAPE}")
    rows = data.get("answers")
    if not isinstance(rows, list) or not rows:
        what = "answers is not a list" if rows else "there are no answers"
        raise WeighbeamError("no_answers", what, f"write {SHAPE}")
    answers = tuple(_read_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    for hotkey, times in Counter(hotkeys).items():
        require(times == 1, "duplicate_hotkey", f"{hotkey!r} answers {times} times", "name each answer differently")
    body = {name: data[name] for name in BODY if data.get(name) is not None}
    owners = [row.get("entity") for row in rows]
    body["entities"] = {key: str(owner) for key, owner in zip(hotkeys, owners, strict=True) if owner is not None}
    read_body(body)
    return Asked(Task("what-if", body), Group(hotkeys), answers, "what-if")


def _read_answer(row: Any, index: int) -> Answer:
    if not isinstance(row, Mapping):
        raise WeighbeamError("bad_answer", f"answer {index} is not an object", f"write {SHAPE}")
    hotkey, seconds = row.get("hotkey"), row.get("seconds")
    hotkey = f"answer-{index}" if hotkey is None else hotkey
    seconds = 0.0 if seconds is None else seconds
    named = isinstance(hotkey, str) and bool(hotkey) and not has_lone_surrogate(hotkey)
    require(named, "bad_hotkey", f"answer {index} has the hotkey {hotkey!r}", "give a string, or leave it out")
    timed = is_number(seconds)
    require(timed, "bad_seconds", f"answer {index} took {seconds!r} seconds", "give a finite number")
    return Answer(hotkey, {"text": row.get("text"), "confidence": row.get("confidence")}, float(seconds))


def report_round(params: InferenceParams, observation: Observation, scored: Scored) -> dict[str, Any]:
    """The output of stage `inference.score`, what it means in words, and a row per answer."""
    replayed = replay_round(params, observation)
    output = replayed.write()
    seconds = {miner["hotkey"]: miner["seconds"] for miner in observation.facts["miners"]}
    rows = []
    for score in scored.scores:
        quality = replayed.qualities.get(score.hotkey)
        rows.append(
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "score": score.value,
                "emission": output["emissions"][score.hotkey],
                "reasons": list(score.reasons),
                "parts": score.parts,
                "quality": None if quality is None else quality.as_json(),
                "seconds": seconds[score.hotkey],
            }
        )
    return {
        **output,
        "reading": read_outcome(output, params),
        "answers": rows,
        "copies": scored.summary["copies"],
        "senses": observation.facts["senses"],
        "faults": observation.facts["faults"],
    }
