"""The JSON of `weighbeam score chunking`: read a question, write its result."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanisms.chunking.explain import describe_answer_failure
from weighbeam.mechanisms.chunking.words import has_lone_surrogate
from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Scored, Task

DEFAULT_SEED = "what-if"
SHAPE = '{"document": "…", "chunk_size": 400, "chunk_qty": 6, "answers": [{"chunks": ["…"]}]}'


def read_question(data: Any) -> Asked:
    """One round out of `{document, chunk_size, chunk_qty, time_soft_max?, seed?, answers}`."""
    require(isinstance(data, Mapping), "bad_question", "the file is not a JSON object", f"write {SHAPE}")
    rows = data.get("answers")
    if not isinstance(rows, list) or not rows:
        what = "answers is not a list" if rows else "there are no answers"
        raise WeighbeamError("no_answers", what, f"write {SHAPE}")
    answers = tuple(_read_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    for hotkey, times in Counter(hotkeys).items():
        require(times == 1, "duplicate_hotkey", f"{hotkey!r} answers {times} times", "name each answer differently")
    seed = data.get("seed")
    seed = DEFAULT_SEED if seed is None else seed
    valid = is_integer(seed) or (isinstance(seed, str) and not has_lone_surrogate(seed))
    require(valid, "bad_seed", f"seed is {seed!r}", "give a string or an integer")
    limits = ("document", "chunk_size", "chunk_qty", "time_soft_max")
    body = {name: data[name] for name in limits if name in data}
    return Asked(Task("what-if", body), Group(hotkeys), answers, seed)


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
    return Answer(hotkey, {"chunks": row.get("chunks")}, float(seconds))


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
