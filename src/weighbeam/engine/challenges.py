"""Challenges: questions another program hands us, by its own ids (docs/spec/weigh-in.md § 13).

A challenge is an organic request that can be handed over again without being asked again, and whose result goes back
by itself. Whoever handed it over is the only one told about it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.line_up import Terms, queue
from weighbeam.mechanisms.contract import Mechanism, Params, Task
from weighbeam.store import tables
from weighbeam.store.database import Store

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
FIELDS = frozenset({"id", "prompt", "messages", "model", "max_tokens", "temperature", "metadata"})
MOST_METADATA = 16 << 10


@dataclass(frozen=True, slots=True)
class Challenge:
    """Where a challenge stands: waiting, taken, done or failed."""

    id: str
    by: str
    mechanism: str
    state: str
    metadata: Any
    result: Mapping[str, Any] | None

    def as_json(self) -> dict[str, Any]:
        told = {"id": self.id, "mechanism": self.mechanism, "state": self.state, "metadata": self.metadata}
        return told if self.result is None else {**told, "result": dict(self.result)}


def accept_challenge(
    store: Store, mechanism: Mechanism, params: Params, given: Any, by: str, at: float
) -> tuple[Challenge, bool]:
    """The challenge, and whether it is new. What cannot be asked is refused; so is an id used for something else."""
    body = _read_challenge(given)
    request_id = name_request(by, given["id"])
    mechanism.pose(params, Task(request_id, body, "organic"))
    challenge = {
        "id": given["id"],
        "by": by,
        "digest": digest_text(json.dumps(given, sort_keys=True)),
        "metadata": given.get("metadata"),
    }
    kept = {"body": body, "wanted": [], "ranked": True, "challenge": challenge}
    with store.write() as connection:
        row = connection.execute(select(tables.requests).where(tables.requests.c.id == request_id)).one_or_none()
        if row is None:
            queue(connection, request_id, mechanism.name, at, kept, Terms(caller=by))
            return Challenge(given["id"], by, mechanism.name, "waiting", given.get("metadata"), None), True
    if row.body["challenge"]["digest"] != challenge["digest"]:
        raise WeighbeamError("challenge_differs", f"the id {given['id']!r} is taken", "use an id of its own")
    return _read(row), False


def find_challenge(store: Store, challenge_id: str, by: str) -> Challenge:
    """Only for whoever handed it over; for anybody else there is none."""
    with store.read() as connection:
        query = select(tables.requests).where(tables.requests.c.id == name_request(by, challenge_id))
        row = connection.execute(query).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_challenge", f"no challenge is called {challenge_id!r}", "check the id")
    return _read(row)


def read_challenge(store: Store, request_id: str) -> Challenge:
    """By the request it became; `unknown_request` once it is forgotten."""
    with store.read() as connection:
        row = connection.execute(select(tables.requests).where(tables.requests.c.id == request_id)).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_request", f"{request_id} is not kept any more", "nothing to do")
    return _read(row)


def name_request(by: str, challenge_id: str) -> str:
    """Everybody has ids of their own."""
    return f"challenge-{digest_text(f'{by} {challenge_id}')[:40]}"


def _read_challenge(given: Any) -> dict[str, Any]:
    """The body of its task; every field is known, and nothing is kept that was not looked at."""
    shape = '{"id": "…", "prompt": "…"}'
    require(isinstance(given, dict), "bad_challenge", "a challenge is an object", f"send {shape}")
    unknown = sorted(set(given) - FIELDS)
    require(not unknown, "bad_challenge", f"unknown fields: {', '.join(unknown)[:100]}", f"use {sorted(FIELDS)}")
    name = given.get("id")
    sound = isinstance(name, str) and NAME.fullmatch(name) is not None
    require(sound, "bad_challenge", "the id is not a plain name", "1 to 128 letters, digits and . _ : -")
    metadata = json.dumps(given.get("metadata"))
    require(len(metadata) <= MOST_METADATA, "bad_challenge", "metadata is too large", f"send ≤ {MOST_METADATA} bytes")
    return {key: given[key] for key in FIELDS - {"id", "metadata"} if given.get(key) is not None}


def _read(row: Any) -> Challenge:
    kept = row.body["challenge"]
    return Challenge(kept["id"], kept["by"], row.mechanism, row.state, kept["metadata"], row.result)
