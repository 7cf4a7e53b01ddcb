"""What the challenge API takes and gives, for /openapi.json. Requests are read by hand: what is refused has a code."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weighbeam.service.shapes_organic import Result


class ChallengeGiven(BaseModel):
    """A question under an id of your own; handed over again it is not asked again."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", examples=["q-17"])]
    prompt: Annotated[str | None, Field(examples=["Why does bread rise?"])] = None
    messages: Annotated[list[dict[str, str]] | None, Field(description="[{role, content}]")] = None
    model: Annotated[str | None, Field(max_length=200, description="a wish, told to miners")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=32_768)] = None
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    metadata: Annotated[Any, Field(description="kept for you and given back")] = None


class ChallengeState(BaseModel):
    """Where a challenge stands, and what came of it."""

    id: str
    mechanism: str
    state: Literal["waiting", "taken", "done", "failed", "cancelled"]
    metadata: Any
    result: Result | None = None


class ChallengeTaken(ChallengeState):
    status_url: str
