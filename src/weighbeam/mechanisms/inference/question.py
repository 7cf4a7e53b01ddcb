"""The JSON of `weighbeam score inference`: read a question, write its result."""

from typing import Any

from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reading import read_outcome
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.mechanisms.inference.task import FIELDS, read_body
from weighbeam.mechanisms.read_rows import read_name_and_seconds, read_rows, refuse_doubles

SHAPE = '{"prompt": "…", "answers": [{"hotkey": "a", "text": "…", "seconds": 1.5}]}'


def read_question(data: Any) -> Asked:
    """One round out of `{prompt | messages, prose?, answers: [{hotkey, text, seconds, confidence?, entity?}]}`."""
    rows = read_rows(data, SHAPE)
    answers = tuple(_read_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    body = {name: data[name] for name in FIELDS if data.get(name) is not None}
    owners = [row.get("entity") for row in rows]
    entities = {key: str(owner) for key, owner in zip(hotkeys, owners, strict=True) if owner is not None}
    read_body(body)
    return Asked(Task("what-if", body), Group(hotkeys), answers, "what-if", entities)


def _read_answer(row: Any, index: int) -> Answer:
    hotkey, seconds = read_name_and_seconds(row, index, SHAPE)
    return Answer(hotkey, {"text": row.get("text"), "confidence": row.get("confidence")}, seconds)


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
