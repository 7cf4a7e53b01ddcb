"""The JSON of `weighbeam score chunking`: read a question, write its result."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer
from weighbeam.core.text import has_lone_surrogate
from weighbeam.mechanism.parse import parse_answer_rows, parse_name_and_seconds, refuse_doubles
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.chunking.explain import describe_answer_failure
from weighbeam.mechanisms.chunking.retrieval.questions import KEYS as RETRIEVAL_KEYS
from weighbeam.mechanisms.chunking.retrieval.score import report_retrieval

DEFAULT_SEED = "what-if"
QUESTION_KEYS = ("document", "chunk_size", "chunk_qty", "time_soft_max", "seed", "answers", *RETRIEVAL_KEYS)
ANSWER_KEYS = ("hotkey", "chunks", "seconds")
FILE_KEYS: Mapping[str, Sequence[str]] = {"": QUESTION_KEYS, "answers": ANSWER_KEYS}
MAX_ROWS = 1000
SHAPE = '{"document": "…", "chunk_size": 400, "chunk_qty": 6, "answers": [{"chunks": ["…"]}]}'


class ChunkingQuestion(BaseModel):
    """A document to be cut into chunks."""

    document: Annotated[str, Field(examples=["The tide rises. The tide falls. The twilight darkens."])]
    chunk_size: Annotated[int | None, Field(ge=1, description="characters of a chunk", examples=[40])] = None
    chunk_qty: Annotated[int | None, Field(ge=1, description="chunks at most", examples=[3])] = None


def parse_question(data: Any) -> Asked:
    """One round out of `{document, chunk_size, chunk_qty, time_soft_max?, seed?, answers}` and, for a check of
    retrieval, `{questions?, k?, token_budget?, borders?}`."""
    rows = parse_answer_rows(data, SHAPE)
    answers = tuple(_parse_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    seed = data.get("seed")
    seed = DEFAULT_SEED if seed is None else seed
    valid = is_integer(seed) or (isinstance(seed, str) and not has_lone_surrogate(seed))
    require(valid, "bad_seed", f"seed is {seed!r}", "give a string or an integer")
    asked = ("document", "chunk_size", "chunk_qty", "time_soft_max", *RETRIEVAL_KEYS)
    body = {name: data[name] for name in asked if name in data}
    return Asked(Task("what-if", body), Group(hotkeys), answers, seed)


def _parse_answer(row: Any, index: int) -> Answer:
    hotkey, seconds = parse_name_and_seconds(row, index, SHAPE)
    return Answer(hotkey, {"chunks": row.get("chunks")}, seconds)


def list_ignored(data: Mapping[str, Any]) -> list[str]:
    """Keys nothing reads, so that a misspelt limit does not pass in silence.

    >>> list_ignored({"document": "", "chunk_seize": 40, "answers": [{"chunks": [], "second": 1}]})
    ['chunk_seize', 'answers[].second']
    """
    own = [str(key) for key in data if key not in QUESTION_KEYS]
    rows = [row for row in data["answers"][:MAX_ROWS] if isinstance(row, dict)]
    return own + sorted({f"answers[].{key}" for row in rows for key in row if key not in ANSWER_KEYS})


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
                **report_retrieval(observation, answer),
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
