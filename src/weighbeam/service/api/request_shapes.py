"""Models of the organic API: they describe it, and parse the bodies and queries of callers."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from weighbeam.core.validation import ErrorCode
from weighbeam.network.keys import is_address
from weighbeam.service.api.bodies import IdempotencyKey
from weighbeam.service.api.query import ShortPageQuery
from weighbeam.service.api.reading_shapes import ExplanationShown

HOTKEY = "5FHneW46xGXgs5mUiveU4sbTyGBzmstUspZC92UhjJM694ty"
BAD_TERMS = ErrorCode("bad_terms")


def check_address(text: str) -> str:
    if not is_address(text):
        raise ValueError("Input should be an ss58 address")
    return text


class QuestionOptions(BaseModel):
    """Options of every question."""

    model_config = ConfigDict(extra="forbid")

    wanted: Annotated[
        list[Annotated[str, AfterValidator(check_address)]] | None,
        Field(max_length=16, fail_fast=True, description="hotkeys that must be asked", examples=[[HOTKEY]]),
        BAD_TERMS,
    ] = None
    ranked: Annotated[bool | None, Field(description="false: no standing changes; if the token may"), BAD_TERMS] = None
    priority: Annotated[
        Literal["low", "normal", "high"] | None,
        Field(description="at most the token's", examples=["normal"]),
        BAD_TERMS,
    ] = None
    key: IdempotencyKey = None


class RequestsQuery(ShortPageQuery):
    before: Annotated[str | None, Field(description="`next` of the page before")] = None


class RequestResult(BaseModel):
    """The best valid answer and its proof; of a request that failed, `error` and `message` alone."""

    error: Annotated[str | None, Field(description="why it failed, by a code", examples=["no_valid_answer"])] = None
    message: str | None = None
    round: str | None = None
    hotkey: Annotated[str | None, Field(description="the miner that gave the answer", examples=[HOTKEY])] = None
    payload: Annotated[Any, Field(description="the answer, as the miner sent it")] = None
    seconds: float | None = None
    proof: Annotated[dict[str, str] | None, Field(description="the miner's signature over its reply")] = None
    score: Annotated[dict[str, Any] | None, Field(description="the answer's score with its parts")] = None
    low_confidence: bool | None = None
    explanation: Annotated[
        ExplanationShown | None, Field(description="how the score came about, while the round is kept")
    ] = None
    not_asked: Annotated[list[str] | None, Field(description="wanted hotkeys that could not be asked")] = None


class RequestLine(BaseModel):
    """A request, without its text."""

    id: Annotated[str, Field(examples=["organic-0f1e2d3c4b5a69788796a5b4"])]
    mechanism: str
    state: Literal["waiting", "taken", "done", "failed", "cancelled"]
    round: Annotated[str | None, Field(description="the round that took it")]
    at: Annotated[float, Field(description="seconds since 1970, by the clock of the chain")]
    caller: Annotated[str | None, Field(description="who asks", examples=["token:my-app"])]
    priority: Literal["low", "normal", "high"]
    ranked: bool
    status_url: str
    events_url: str


class RequestState(RequestLine):
    """Where a request stands, and what came of it."""

    position: Annotated[int | None, Field(description="its place among those that wait; 1 is next", examples=[1])]
    result: RequestResult | None


class RequestLines(BaseModel):
    requests: list[RequestLine]
    next: Annotated[str | None, Field(description="`before` of the next call; null at the end")]
