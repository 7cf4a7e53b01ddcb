"""What the organic API takes and gives, for /openapi.json. Requests are read by hand: what is refused has a code."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

HOTKEY = "5FHneW46xGXgs5mUiveU4sbTyGBzmstUspZC92UhjJM694ty"


class Options(BaseModel):
    """What every question may have besides."""

    model_config = ConfigDict(extra="forbid")

    wanted: Annotated[
        list[str] | None, Field(max_length=16, description="hotkeys that must be asked", examples=[[HOTKEY]])
    ] = None
    ranked: Annotated[bool | None, Field(description="false: no standing changes; if the token may")] = None
    priority: Annotated[
        Literal["low", "normal", "high"] | None, Field(description="at most the token's", examples=["normal"])
    ] = None
    key: Annotated[
        str | None,
        Field(
            pattern="^[!-~]{1,128}$",
            description="idempotency key; the header Idempotency-Key does as well",
            examples=["q-17"],
        ),
    ] = None


class ChunkingQuestion(Options):
    """A document to be cut into chunks."""

    document: Annotated[str, Field(examples=["The tide rises. The tide falls. The twilight darkens."])]
    chunk_size: Annotated[int | None, Field(ge=1, description="characters of a chunk", examples=[40])] = None
    chunk_qty: Annotated[int | None, Field(ge=1, description="chunks at most", examples=[3])] = None


class InferenceQuestion(Options):
    """A prompt, or messages, of which the user's last is judged by."""

    prompt: Annotated[str | None, Field(examples=["Why does bread rise?"])] = None
    messages: Annotated[list[dict[str, str]] | None, Field(description="[{role, content}]")] = None
    prose: Annotated[bool | None, Field(description="false: the answer need not be prose")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=32_768)] = None
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    model: Annotated[str | None, Field(max_length=200, description="a wish, told to miners")] = None


class EvidenceQuestion(Options):
    """A statement to find evidence for or against."""

    statement: Annotated[str, Field(max_length=1000, examples=["The Eiffel Tower is taller than 300 metres."])]


class AnyQuestion(Options):
    """The task of a mechanism of somebody else, with its own fields."""

    model_config = ConfigDict(extra="allow")


class Tree(BaseModel):
    """A line of an explanation, and the lines it follows from."""

    text: str
    children: "list[Tree]"


class Result(BaseModel):
    """The best valid answer and its proof; of a request that failed, `error` and `message` alone."""

    error: Annotated[str | None, Field(description="why it failed, by a code", examples=["no_valid_answer"])] = None
    message: str | None = None
    round: str | None = None
    hotkey: Annotated[str | None, Field(description="whose answer it is", examples=[HOTKEY])] = None
    payload: Annotated[Any, Field(description="the answer, as the miner sent it")] = None
    seconds: float | None = None
    proof: Annotated[dict[str, str] | None, Field(description="the miner's signature over its reply")] = None
    score: Annotated[dict[str, Any] | None, Field(description="the answer's score with its parts")] = None
    low_confidence: bool | None = None
    explanation: Annotated[Tree | None, Field(description="how the score came about, while the round is kept")] = None
    not_asked: Annotated[list[str] | None, Field(description="wanted hotkeys that could not be asked")] = None


class Line(BaseModel):
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


class RequestState(Line):
    """Where a request stands, and what came of it."""

    position: Annotated[int | None, Field(description="its place among those that wait; 1 is next", examples=[1])]
    result: Result | None


class Lines(BaseModel):
    requests: list[Line]
    next: Annotated[str | None, Field(description="`before` of the next call; null at the end")]


QUESTIONS: dict[str, type[Options]] = {
    "chunking": ChunkingQuestion,
    "inference": InferenceQuestion,
    "evidence": EvidenceQuestion,
}


def list_fields(mechanism: str) -> frozenset[str] | None:
    """The fields a question may have; None if only the mechanism knows.

    >>> sorted(list_fields("chunking")), list_fields("keyword-recall")
    (['chunk_qty', 'chunk_size', 'document'], None)
    """
    shape = QUESTIONS.get(mechanism)
    return None if shape is None else frozenset(shape.model_fields) - frozenset(Options.model_fields)
