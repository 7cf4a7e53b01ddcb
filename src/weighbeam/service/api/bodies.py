"""JSON bodies with an idempotency key, which may stand in a header instead."""

from typing import Annotated, Any

from fastapi import Request
from pydantic import Field

from weighbeam.core.errors import require
from weighbeam.network.strict_json import parse_strict
from weighbeam.service.http.callers import Caller

IdempotencyKey = Annotated[
    str | None,
    Field(
        pattern="^[!-~]{1,128}$",
        description="idempotency key; the header Idempotency-Key does as well",
        examples=["q-17"],
    ),
]


def find_key(request: Request) -> str | None:
    """The header Idempotency-Key."""
    named = request.headers.getlist("idempotency-key")
    require(len(named) < 2, "bad_key", "the header Idempotency-Key occurs twice", "give one")
    return named[0] if named else None


def parse_keyed_json(body: bytes, header: str | None, caller: Caller) -> Any:
    """The JSON of a body, with the header's key in it; a header is not signed, so signed calls may not use it."""
    given = parse_strict(body)
    if header is None or not isinstance(given, dict):
        return given
    require(caller.hotkey is None, "bad_key", "the header Idempotency-Key is not signed", "put key into the body")
    require(given.get("key") in (None, header), "bad_key", "body and header name different keys", "give one of them")
    return {**given, "key": header}
