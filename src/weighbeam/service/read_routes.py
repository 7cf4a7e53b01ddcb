"""How a route of the reading API is declared: a GET with a documented answer, query, tag and refusals."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Response, Security

from weighbeam.service.query import take_query
from weighbeam.service.routes import SHOWN
from weighbeam.service.shapes import REFUSED, Refusal

BASE = "/v1"
Handler = Callable[..., Any]


def declare(
    app: FastAPI,
    path: str,
    done: Any,
    tag: str,
    names: tuple[str, ...] = (),
    refused: tuple[int, ...] = (),
    states: str | None = None,
) -> Callable[[Handler], Handler]:
    """`done` is a model, or the content type of what is no JSON. Any query can be wrong, so 400 is always there."""
    given = (
        {"content": {done: {"schema": {"type": "string", "format": "binary"}}}}
        if isinstance(done, str)
        else {"model": done}
    )
    responses: dict[int | str, dict[str, Any]] = {
        200: {**given, "description": "found"},
        304: {"description": "as the ETag in If-None-Match says you have it"},
    }
    for status in sorted({400, 401, 403, 413, 429, 503, *refused}):
        responses[status] = {"model": Refusal, "description": REFUSED[status]}
    return app.get(
        f"{BASE}{path}",
        responses=responses,
        openapi_extra=take_query(names, states),
        response_class=Response,
        dependencies=[Security(SHOWN)],
        tags=[tag],
    )
