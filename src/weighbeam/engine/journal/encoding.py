"""Canonical bytes of a round's records, which a replay must reproduce."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.mechanism.records import Answer, Asked, Scored, Standing


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """What identifies a round and everything it was run under.

    `lateness` is how late our own machine was, if that made the round void; such a record alone has it.
    """

    id: str
    mechanism: str
    params: Mapping[str, Any]
    params_hash: str
    seed: str | int
    block: int
    at: float
    departed: tuple[str, ...] = ()
    endpoints: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    lateness: Mapping[str, Json] | None = None


def format_body(facts: RoundFacts, task: str, answers: str, observation: str) -> Json:
    late: dict[str, Json] = {} if facts.lateness is None else {"lateness": dict(facts.lateness)}
    return {
        **late,
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


def encode_outcome(body: str, scored: Scored, standings: Sequence[Standing]) -> bytes:
    """What a round led to, as bytes that a replay must reach again."""
    rows: list[Json] = [[s.hotkey, s.value, dict(s.detail)] for s in standings]
    return canonical_json({"body": body, "scored": scored.as_json(), "standings": rows})


def encode_task(asked: Asked) -> bytes:
    """The task and its group; a miner's bytes are not in it."""
    group = asked.group
    return _encode_ascii(
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


def encode_answers(answers: Sequence[Answer]) -> bytes:
    return _encode_ascii([[a.hotkey, a.uid, a.status, a.seconds, a.payload, a.reason, a.proof] for a in answers])


def _encode_ascii(value: Any) -> bytes:
    """JSON that can carry whatever a miner sent, lone surrogates included."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
