"""What a round is written as: bytes that a replay must reach again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.mechanisms.contract import Answer, Asked, Scored, Standing


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """What identifies a round and everything it was run under."""

    id: str
    mechanism: str
    params: Mapping[str, Any]
    params_hash: str
    seed: str | int
    block: int
    at: float
    departed: tuple[str, ...] = ()
    endpoints: Mapping[str, Sequence[str] | None] = field(default_factory=dict)


def write_body(facts: RoundFacts, task: str, answers: str, observation: str) -> Json:
    return {
        "id": facts.id,
        "mechanism": facts.mechanism,
        "params": dict(facts.params),
        "params_hash": facts.params_hash,
        "seed": facts.seed,
        "block": facts.block,
        "at": facts.at,
        "departed": list(facts.departed),
        "endpoints": dict(facts.endpoints),
        "task": task,
        "answers": answers,
        "observation": observation,
    }


def write_outcome(body: str, scored: Scored, standings: Sequence[Standing]) -> bytes:
    """What a round led to, as bytes that a replay must reach again."""
    rows: list[Json] = [[s.hotkey, s.value, dict(s.detail)] for s in standings]
    return canonical_json({"body": body, "scored": scored.as_json(), "standings": rows})


def write_task(asked: Asked) -> bytes:
    """The task and its group; a miner's bytes are not in it."""
    group = asked.group
    return _write_ascii(
        {
            "id": asked.task.id,
            "kind": asked.task.kind,
            "body": asked.task.body,
            "wanted": asked.task.wanted,
            "ranked": asked.task.ranked,
            "members": group.members,
            "extra": group.extra,
        }
    )


def write_answers(answers: Sequence[Answer]) -> bytes:
    return _write_ascii([[a.hotkey, a.uid, a.status, a.seconds, a.payload, a.reason, a.proof] for a in answers])


def _write_ascii(value: Any) -> bytes:
    """JSON that can carry whatever a miner sent, lone surrogates included."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
