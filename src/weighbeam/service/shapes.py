"""What the novelty API takes and gives, for /openapi.json. Requests are read by hand: what is refused has a code."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Units = Annotated[int, Field(description="integer token units", examples=[100_000_000])]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Submission(BaseModel):
    """A contribution."""

    contributor: Annotated[
        str | None, Field(max_length=128, description="your id of whoever is paid; may be left out by who signs")
    ] = None
    text: Annotated[str, Field(examples=["Sea otters hold hands while they sleep, so that they do not drift apart."])]
    key: Annotated[
        str | None, Field(max_length=128, description="idempotency key; the header Idempotency-Key does as well")
    ] = None


class TextToCheck(BaseModel):
    text: str


class SenseName(BaseModel):
    id: str
    digest: str


class Receipt(BaseModel):
    """Signed by the node; it verifies offline. A settlement has no nearest, micro, embedder and params_hash."""

    format: Literal[1]
    kind: Literal["contribution", "settlement"]
    id: int
    contributor: str
    at: Annotated[float, Field(description="seconds since 1970")]
    status: Literal["paid", "held", "duplicate", "imported", "released", "rejected"]
    text_sha256: Sha256
    nearest: Annotated[int | None, Field(description="the contribution it is most like")] = None
    micro: Annotated[int | None, Field(description="similarity to it, in millionths")] = None
    units: Units
    embedder: SenseName | None = None
    params_hash: Sha256 | None = None
    ledger: Annotated[str, Field(description="hash of the ledger's newest entry")]
    node: Annotated[str, Field(description="who signed: a hotkey's address")]
    scheme: Literal["sr25519", "ed25519"]
    signature: str


class Receipts(BaseModel):
    receipt: Receipt
    settlement: Receipt | None


class Checked(BaseModel):
    """What a text would get now."""

    status: Literal["paid", "held", "duplicate", "refused"]
    max_similarity: float
    nearest: int | None
    novelty: float
    units: Units
    held: bool
    doubts: Annotated[list[str], Field(description="why it reads as implausible")]


class Balance(BaseModel):
    contributor: str
    units: Units
    held: Units


class Line(BaseModel):
    id: int
    contributor: str
    at: float
    status: str
    units: Units
    micro: int | None
    nearest: int | None
    text_sha256: Sha256
    withdrawn: bool
    text: Annotated[str | None, Field(description="only for callers with the scope operate")] = None


class History(BaseModel):
    contributions: list[Line]
    next: Annotated[int | None, Field(description="`before` of the next call; null at the end")]


class Withdrawn(BaseModel):
    id: int
    withdrawn: Literal[True]


class Treasury(BaseModel):
    """The whole in numbers; treasury + paid + held is 0."""

    treasury: int
    paid: Units
    held: Units
    contributors: int
    contributions: int
    pieces: int
    day_limit: int | None
    contributor_day_limit: int | None
    base_units: Annotated[int, Field(description="units of a token")]


class Refusal(BaseModel):
    """Why nothing came of a call."""

    error: Annotated[str, Field(description="a stable code: docs/errors.md", examples=["too_short"])]
    message: str
    remedy: str


def describe(done: type[BaseModel], refused: tuple[int, ...], more: dict[int, str] | None = None) -> dict[Any, Any]:
    """FastAPI's `responses`: what a route gives, and how it refuses."""
    known = sorted({*refused, *ALWAYS})
    common = {status: {"model": Refusal, "description": REFUSED[status]} for status in known}
    given = {status: {"model": done, "description": told} for status, told in (more or {200: "done"}).items()}
    return {**given, **common}


def take(body: type[BaseModel]) -> dict[str, Any]:
    """FastAPI's `openapi_extra` for a JSON body."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": body.model_json_schema()}}}}


def ask(names: tuple[str, ...]) -> dict[str, Any]:
    """FastAPI's `openapi_extra` for a query."""
    return {"parameters": [{"in": "query", "name": name, "schema": {"type": "string"}} for name in names]}


def tell_events(example: str | None = None) -> dict[str, Any]:
    """The content of a stream of server-sent events, each of this shape."""
    parts = {"event": {"type": "string"}, "data": {"type": "string", "contentMediaType": "application/json"}}
    item = {"type": "object", "properties": {**parts, "id": {"type": "string"}}, "required": ["event", "data"]}
    return {"text/event-stream": {"itemSchema": item, **({} if example is None else {"example": example})}}


ALWAYS = (401, 403, 413, 429, 503)
REFUSED = {
    400: "it cannot be taken; the code says why",
    401: "no token and no valid signature",
    403: "the caller may not do this",
    404: "there is none, or none of yours",
    409: "it does not go with what was done before, or the budget is spent",
    413: "the body is too large",
    422: "it does not read as plausible text",
    429: "too many calls; Retry-After says how long to wait",
    503: "busy; Retry-After says how long to wait",
}
