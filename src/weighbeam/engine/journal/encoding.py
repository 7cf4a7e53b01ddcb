"""Canonical bytes of a round's records, which a replay must reproduce."""

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import require
from weighbeam.mechanism.records import Answer, Asked, Scored, Standing

TEXTS = b"WBT1"
MAX_TEXTS = 1 << 17
MAX_TEXTS_BYTES = 1 << 26
"""Of the one content that holds a round's texts; a round with more keeps each by itself."""


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """Identity of a round and all conditions it ran under.

    `lateness` is the delay of our own machine, set only if it made the round void.
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


def format_body(facts: RoundFacts, task: str, answers: str, observation: str, texts: str | None = None) -> Json:
    """`texts` is the digest of the content that holds all of them, if one does."""
    late: dict[str, Json] = {} if facts.lateness is None else {"lateness": dict(facts.lateness)}
    told: dict[str, Json] = {} if texts is None else {"texts": texts}
    return {
        **late,
        **told,
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
    """Outcome of a round as bytes, which a replay must reproduce."""
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


def encode_texts(texts: Iterable[str]) -> bytes | None:
    """Different texts as one content, in the order of their bytes; None if there are none, or too many.

        b"WBT1"  u32 how many  u32 length of each  UTF-8 of each

    >>> encode_texts(["beam", "a", "beam"])
    b'WBT1\\x02\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x04\\x00\\x00\\x00abeam'
    """
    contents = sorted({text.encode("utf-8", "surrogatepass") for text in texts})
    size = 8 + sum(4 + len(one) for one in contents)
    if not contents or len(contents) > MAX_TEXTS or size > MAX_TEXTS_BYTES:
        return None
    lengths = struct.pack(f"<{len(contents) + 1}I", len(contents), *map(len, contents))
    return b"".join([TEXTS, lengths, *contents])


def parse_texts(content: bytes) -> dict[str, str]:
    """By SHA-256 the texts that `encode_texts` was given; `bad_record` if that is not what it is."""
    try:
        (count,) = struct.unpack_from("<I", content, 4)
        right = content[:4] == TEXTS and count <= MAX_TEXTS
        lengths = struct.unpack_from(f"<{count}I", content, 8) if right else ()
        start, parts = 8 + 4 * count, []
        for length in lengths:
            parts.append(content[start : start + length])
            start += length
        right = right and start == len(content) and all(one < other for one, other in pairwise(parts))
        texts = {hashlib.sha256(one).hexdigest(): one.decode("utf-8", "surrogatepass") for one in parts}
    except (struct.error, UnicodeDecodeError):
        right, texts = False, {}
    require(right, "bad_record", "the texts of a round cannot be read", "restore a backup")
    return texts
