"""The JSON of `weighbeam score chunking`: read a question, write its result."""

from typing import Any

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer
from weighbeam.core.surrogates import has_lone_surrogate
from weighbeam.mechanisms.chunking.explain import describe_answer_failure
from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.read_rows import read_name_and_seconds, read_rows, refuse_doubles

DEFAULT_SEED = "what-if"
SHAPE = '{"document": "…", "chunk_size": 400, "chunk_qty": 6, "answers": [{"chunks": ["…"]}]}'


def read_question(data: Any) -> Asked:
    """One round out of `{document, chunk_size, chunk_qty, time_soft_max?, seed?, answers}`."""
    rows = read_rows(data, SHAPE)
    answers = tuple(_read_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    seed = data.get("seed")
    seed = DEFAULT_SEED if seed is None else seed
    valid = is_integer(seed) or (isinstance(seed, str) and not has_lone_surrogate(seed))
    require(valid, "bad_seed", f"seed is {seed!r}", "give a string or an integer")
    limits = ("document", "chunk_size", "chunk_qty", "time_soft_max")
    body = {name: data[name] for name in limits if name in data}
    return Asked(Task("what-if", body), Group(hotkeys), answers, seed)


def _read_answer(row: Any, index: int) -> Answer:
    hotkey, seconds = read_name_and_seconds(row, index, SHAPE)
    return Answer(hotkey, {"chunks": row.get("chunks")}, seconds)


def report_round(observation: Observation, scored: Scored) -> dict[str, Any]:
    """`{answers: [{hotkey, status, reward, failure, parts, spans, place …}], best}`."""
    facts = observation.facts
    rows = []
    for score, miner in zip(scored.scores, facts["miners"], strict=True):
        answer = facts["answers"][miner["answer"]]
        trouble = None if answer["check"]["ok"] else describe_answer_failure(observation, answer).as_json()
        rows.append(
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "reward": score.value,
                "failure": score.reasons[0] if score.reasons else None,
                "trouble": trouble,
                "parts": score.parts,
                "spans": answer["check"]["spans"],
                "exact": answer["check"]["exact"],
                "tiled": answer["check"]["tiled"],
                "lossless": answer["check"]["lossless"],
                "place": scored.summary["places"].get(score.hotkey),
                "seconds": miner["seconds"],
            }
        )
    task = facts["task"]
    return {
        "answers": rows,
        "best": scored.summary["best"],
        "limits": {name: task[name] for name in ("chunk_size", "chunk_qty", "time_soft_max")},
        "senses": facts["senses"],
        "faults": facts["faults"],
    }
