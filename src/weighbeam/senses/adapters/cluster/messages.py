"""Messages between a validator and its broker.

Messages to the broker are pickled, because they are ours. Replies are a line of JSON and the bytes of a worker. This
does not stop the owner of a node: Ray itself trusts its nodes, and the broker is a process of the validator's user.
"""

import json
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.spec import WorkerStandard


@dataclass(frozen=True, slots=True)
class OpenPool:
    """Have workers for a sense; `spec` is pickled, and only they read it."""

    key: str
    spec: bytes
    standard: WorkerStandard
    at_once: int
    part_seconds: float


@dataclass(frozen=True, slots=True)
class DoPart:
    """One part; `payload` is the pickled items."""

    number: int
    key: str
    lane: int | None
    payload: bytes


@dataclass(frozen=True, slots=True)
class DropParts:
    """Nobody waits for these any more."""

    numbers: tuple[int, ...]


BrokerRequest = OpenPool | DoPart | DropParts
LEFT = "left_to_this_machine"
"""The code of a part that no worker finished, though it harmed none."""


@dataclass(frozen=True, slots=True)
class WorkerBounds:
    """How many workers of a sense there may be, and for how long one without work is kept beyond the least."""

    min_workers: int = 1
    max_workers: int = 8
    idle_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """A pool's workers and parts; `differs` says why workers were not used, of the last that was not."""

    ready: int = 0
    busy: int = 0
    starting: int = 0
    waiting: int = 0
    differs: str | None = None


def encode_reply(head: dict[str, Any], body: bytes = b"") -> bytes:
    return json.dumps(head).encode() + b"\n" + body


def parse_reply(frame: bytes) -> tuple[dict[str, Any], bytes]:
    """
    >>> parse_reply(encode_reply({"done": 7}, b"two\\nlines"))
    ({'done': 7}, b'two\\nlines')
    """
    head, _, body = frame.partition(b"\n")
    read = json.loads(head)
    return (read, body) if isinstance(read, dict) else ({}, body)


def format_fault(fault: WeighbeamError) -> dict[str, str]:
    return {"code": fault.code, "message": fault.message, "remedy": fault.remedy}


def parse_fault(given: dict[str, Any]) -> WeighbeamError:
    """
    >>> parse_fault(format_fault(WeighbeamError("bad_text", "no text", "give one")))
    WeighbeamError('bad_text: no text (give one)')
    """
    code, message, remedy = (str(given.get(name, ""))[:2000] for name in ("code", "message", "remedy"))
    return WeighbeamError(code, message, remedy)
