"""Challenges: questions that another program submits under its own ids (docs/spec/weigh-in.md § 13)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from sqlalchemy import select

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.validation import ErrorCode, extend_model, validate_model
from weighbeam.engine.requests.queue import RequestTerms, insert_request
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Task
from weighbeam.store import tables
from weighbeam.store.database import Store

MAX_METADATA = 16 << 10
BAD_CHALLENGE = ErrorCode("bad_challenge")


def check_metadata(metadata: Any) -> Any:
    if len(json.dumps(metadata)) > MAX_METADATA:
        raise ValueError(f"Input should be at most {MAX_METADATA} bytes of JSON")
    return metadata


class ChallengeBody(BaseModel):
    """A question under an id of your own; handed over again it is not asked again."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", examples=["q-17"]), BAD_CHALLENGE]
    metadata: Annotated[
        Any, AfterValidator(check_metadata), Field(description="kept for you and given back"), BAD_CHALLENGE
    ] = None


@cache
def make_challenge_model(question_model: type[BaseModel] | None) -> type[ChallengeBody]:
    """A challenge with a question of a mechanism."""
    return extend_model(ChallengeBody, question_model, ChallengeBody)


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
    model = make_challenge_model(mechanism.question_model)
    parsed = validate_model(model, given, "bad_challenge", 'send {"id": "…"} and the question')
    # The question stays as it was sent: its digest tells whether an id is used twice.
    kept_apart = ChallengeBody.model_fields
    body = {name: value for name, value in given.items() if value is not None and name not in kept_apart}
    request_id = name_request(by, parsed.id)
    mechanism.pose(params, Task(request_id, body, "organic"))
    challenge = {
        "id": parsed.id,
        "by": by,
        "digest": digest_text(json.dumps(given, sort_keys=True)),
        "metadata": parsed.metadata,
    }
    kept = {"body": body, "wanted": [], "ranked": True, "challenge": challenge}
    with store.write() as connection:
        row = connection.execute(select(tables.requests).where(tables.requests.c.id == request_id)).one_or_none()
        if row is None:
            insert_request(connection, request_id, mechanism.name, at, kept, RequestTerms(caller=by))
            return Challenge(parsed.id, by, mechanism.name, "waiting", parsed.metadata, None), True
    if row.body["challenge"]["digest"] != challenge["digest"]:
        raise WeighbeamError("challenge_differs", f"the id {parsed.id!r} is taken", "use another id")
    return _parse_challenge(row), False


def select_challenge(store: Store, challenge_id: str, by: str) -> Challenge:
    """Return a challenge to its owner; for others it does not exist."""
    with store.read() as connection:
        query = select(tables.requests).where(tables.requests.c.id == name_request(by, challenge_id))
        row = connection.execute(query).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_challenge", f"no challenge is called {challenge_id!r}", "check the id")
    return _parse_challenge(row)


def select_challenge_of_request(store: Store, request_id: str) -> Challenge:
    """By the request it became; `unknown_request` once it is forgotten."""
    with store.read() as connection:
        row = connection.execute(select(tables.requests).where(tables.requests.c.id == request_id)).one_or_none()
    if row is None:
        raise WeighbeamError("unknown_request", f"{request_id} is no longer kept", "nothing to do")
    return _parse_challenge(row)


def name_request(by: str, challenge_id: str) -> str:
    """Name a request by caller and id."""
    return f"challenge-{digest_text(f'{by} {challenge_id}')[:40]}"


def _parse_challenge(row: Any) -> Challenge:
    kept = row.body["challenge"]
    return Challenge(kept["id"], kept["by"], row.mechanism, row.state, kept["metadata"], row.result)
