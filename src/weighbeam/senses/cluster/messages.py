"""What goes over the pipe between a validator and its broker.

What we send is pickled: it is ours. What comes back is a line of JSON and the bytes a worker made. That keeps nobody
out who owns a node of the cluster: Ray itself trusts its nodes, and the broker is a process of the validator's user.
"""

import json
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.cluster.spec import Standard


@dataclass(frozen=True, slots=True)
class Open:
    """Have workers for a sense; `spec` is pickled, and only they read it."""

    key: str
    spec: bytes
    standard: Standard
    at_once: int
    part_seconds: float


@dataclass(frozen=True, slots=True)
class Do:
    """One part; `payload` is the pickled items."""

    number: int
    key: str
    lane: int | None
    payload: bytes


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody waits for these any more."""

    numbers: tuple[int, ...]


Request = Open | Do | Drop
LEFT = "left_to_this_machine"
"""The code of a part that no worker finished, though it harmed none."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many workers of a sense there may be, and for how long one without work is kept beyond the least."""

    least: int = 1
    most: int = 8
    idle_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Status:
    """A pool's workers and parts; `differs` says why workers were not used, of the last that was not."""

    ready: int = 0
    busy: int = 0
    starting: int = 0
    waiting: int = 0
    differs: str | None = None


def write_reply(head: dict[str, Any], body: bytes = b"") -> bytes:
    return json.dumps(head).encode() + b"\n" + body


def read_reply(frame: bytes) -> tuple[dict[str, Any], bytes]:
    """
    >>> read_reply(write_reply({"done": 7}, b"two\\nlines"))
    ({'done': 7}, b'two\\nlines')
    """
    head, _, body = frame.partition(b"\n")
    read = json.loads(head)
    return (read, body) if isinstance(read, dict) else ({}, body)


def write_fault(fault: WeighbeamError) -> dict[str, str]:
    return {"code": fault.code, "message": fault.message, "remedy": fault.remedy}


def read_fault(given: dict[str, Any]) -> WeighbeamError:
    """
    >>> read_fault(write_fault(WeighbeamError("bad_text", "no text", "give one")))
    WeighbeamError('bad_text: no text (give one)')
    """
    code, message, remedy = (str(given.get(name, ""))[:2000] for name in ("code", "message", "remedy"))
    return WeighbeamError(code, message, remedy)
