"""Declaration of API routes: method, answers, refusals, body, query and tag."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import FastAPI, Response, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field

from weighbeam.service.api.query import Query, describe_query

SHOWN = HTTPBearer(
    auto_error=False,
    description="a token of `weighbeam serve token new`; the guide 'Ask over HTTP' says how to sign instead",
)
BASE = "/v1"
ALWAYS = (401, 403, 413, 429, 503)
REFUSED = {
    400: "the request is invalid; the code says why",
    401: "no token and no valid signature",
    403: "the caller may not do this",
    404: "not found, or not yours",
    409: "it conflicts with an earlier call, or the budget is spent",
    413: "the body is too large",
    422: "the text was refused as implausible",
    429: "too many calls; Retry-After says how long to wait",
    503: "busy; Retry-After says how long to wait",
}
REFERENCE = "$ref"
PART = re.compile(r"\{(\w+)\}")
TEXT = {"type": "string"}
Handler = Callable[..., Any]
Responses = dict[int | str, dict[str, Any]]


class Refusal(BaseModel):
    """Why nothing came of a call."""

    error: Annotated[str, Field(description="a stable code, listed on the page 'Errors'", examples=["too_short"])]
    message: str
    remedy: str


def declare_route(
    app: FastAPI,
    method: str,
    path: str,
    responses: Responses,
    tag: str,
    body: type[BaseModel] | None = None,
    query: type[Query] = Query,
) -> Callable[[Handler], Handler]:
    return app.api_route(
        path,
        methods=[method],
        responses=responses,
        openapi_extra={**describe_query(query), **({} if body is None else describe_body(body))},
        response_class=Response,
        dependencies=[Security(SHOWN)],
        tags=[tag],
    )


def declare_read(
    app: FastAPI,
    path: str,
    done: Any,
    tag: str,
    query: type[Query],
    refused: tuple[int, ...],
    read: Handler,
    files: Iterable[str] = (),
) -> Callable[[Handler], Handler]:
    """A route that is named and described by `read`, and takes the parts of its path from the request.

    `done` is a model, or the content type of what is not JSON; `files` are further content types that a query may ask
    for. Any query can be wrong, so 400 is always there.
    """
    kinds = [*([done] if isinstance(done, str) else []), *files]
    given: dict[str, Any] = {} if isinstance(done, str) else {"model": done}
    if kinds:
        given["content"] = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    responses: Responses = {
        200: {**given, "description": "found"},
        304: {"description": "unchanged: If-None-Match names the current ETag"},
        **describe_refusals((400, *refused)),
    }
    parts = [{"in": "path", "name": name, "required": True, "schema": TEXT} for name in PART.findall(path)]
    parameters = [*parts, *describe_query(query).get("parameters", [])]
    return app.get(
        f"{BASE}{path}",
        name=read.__name__,
        description=inspect.cleandoc(read.__doc__ or ""),
        responses=responses,
        openapi_extra={"parameters": parameters} if parameters else None,
        response_class=Response,
        dependencies=[Security(SHOWN)],
        tags=[tag],
    )


def describe_responses(
    done: type[BaseModel], refused: tuple[int, ...], more: dict[int, str] | None = None
) -> Responses:
    """FastAPI's `responses`: what a route gives, and how it refuses."""
    given: Responses = {
        status: {"model": done, "description": told} for status, told in (more or {200: "done"}).items()
    }
    return {**given, **describe_refusals(refused)}


def describe_refusals(statuses: tuple[int, ...]) -> Responses:
    known = sorted({*statuses, *ALWAYS})
    return {status: {"model": Refusal, "description": REFUSED[status]} for status in known}


def describe_body(body: type[BaseModel]) -> dict[str, Any]:
    """FastAPI's `openapi_extra` for a JSON body."""
    schema = body.model_json_schema()
    described = inline_definitions(schema, schema.pop("$defs", {}))
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": described}}}}


def inline_definitions(schema: Any, known: dict[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """A schema whose references are replaced by what they name, for /openapi.json has definitions elsewhere.

    One that refers to itself takes anything from there on.

    >>> inline_definitions({"items": {"$ref": "#/$defs/A"}}, {"A": {"type": "object", "not": {"$ref": "#/$defs/A"}}})
    {'items': {'type': 'object', 'not': {}}}
    """
    if isinstance(schema, list):
        return [inline_definitions(one, known, inside) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: inline_definitions(value, known, inside) for key, value in schema.items() if key != REFERENCE}
    if REFERENCE not in schema:
        return plain
    name = str(schema[REFERENCE]).rpartition("/")[2]
    named = {} if name in inside else inline_definitions(known.get(name, {}), known, (*inside, name))
    return {**named, **plain}


def describe_events(example: str | None = None) -> dict[str, Any]:
    """The content of a stream of server-sent events, each of this shape."""
    parts = {"event": {"type": "string"}, "data": {"type": "string", "contentMediaType": "application/json"}}
    item = {"type": "object", "properties": {**parts, "id": {"type": "string"}}, "required": ["event", "data"]}
    return {"text/event-stream": {"itemSchema": item, **({} if example is None else {"example": example})}}
