"""The task: a document and its limits, validated before anyone is asked."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanism.records import ReplyLimits
from weighbeam.mechanisms.chunking.params import ANSWER_SLACK, DEFAULT_CHUNK_SIZE, ChunkingParams

FRAME_BYTES = 4096
"""Of a reply, around its chunks."""
BYTES_PER_CHUNK = 8
"""Quotes, commas and spaces around one."""
BYTES_PER_CHARACTER = 6
"""Of one that JSON escapes."""
MIN_CHUNKS = 1024


@dataclass(frozen=True, slots=True)
class ChunkingLimits:
    """Limits of an answer. A task that names no limit gets these defaults."""

    chunk_size: int
    chunk_qty: int
    time_soft_max: float


def parse_limits(body: Mapping[str, Any], params: ChunkingParams) -> ChunkingLimits:
    """The limits of a task's body.

    >>> parse_limits({"document": "x" * 10000}, ChunkingParams())
    ChunkingLimits(chunk_size=4096, chunk_qty=5, time_soft_max=3.75)
    """
    size = _given(body, "chunk_size", DEFAULT_CHUNK_SIZE)
    require(is_integer(size, 1), "bad_chunk_size", f"chunk_size is {size!r}", "give an integer of 1 or more")
    document = body.get("document")
    length = len(document) if isinstance(document, str) else 0
    quantity = _given(body, "chunk_qty", max(1, math.ceil(1.5 * math.ceil(length / size))))
    require(is_integer(quantity, 1), "bad_chunk_qty", f"chunk_qty is {quantity!r}", "give an integer of 1 or more")
    soft = _given(body, "time_soft_max", params.time_soft_max)
    if not is_number(soft, 0):
        raise WeighbeamError("bad_time_soft_max", f"time_soft_max is {soft!r}", "give seconds of 0 or more")
    return ChunkingLimits(size, quantity, float(soft))


def limit_reply(body: Mapping[str, Any], params: ChunkingParams) -> ReplyLimits:
    """The largest reply to a task's body (spec § 1): the document as JSON so often as an answer may hold it, in as many
    chunks as anybody could want.

    >>> limit_reply({"document": "x" * 10000}, ChunkingParams())
    ReplyLimits(bytes=78520, nodes=3534)
    """
    document = body.get("document")
    text = document if isinstance(document, str) else ""
    chunks = MIN_CHUNKS + len(text) // 4 + 2 * min(parse_limits(body, params).chunk_qty, len(text))
    escaped = len(json.dumps(text)) + BYTES_PER_CHARACTER * ANSWER_SLACK
    return ReplyLimits(FRAME_BYTES + math.ceil(params.answer_factor * escaped) + BYTES_PER_CHUNK * chunks, chunks)


def _given(body: Mapping[str, Any], name: str, default: Any) -> Any:
    value = body.get(name)
    return default if value is None else value
