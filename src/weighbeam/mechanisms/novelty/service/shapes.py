"""Models of the novelty API: they describe it, and parse the bodies and queries of callers."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from weighbeam.core.validation import ErrorCode
from weighbeam.service.api.bodies import IdempotencyKey
from weighbeam.service.api.query import FROM_DIGITS, OneOf, ShortPageQuery

Units = Annotated[int, Field(description="integer token units", examples=[100_000_000])]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
STATUSES = ("paid", "held", "duplicate", "imported", "released", "rejected")


class NoveltySubmissionBody(BaseModel):
    """A contribution."""

    model_config = ConfigDict(extra="forbid")

    contributor: Annotated[
        str | None,
        Field(max_length=128, description="your id of the contributor who is paid; signed calls may omit it"),
    ] = None
    text: Annotated[
        str,
        Field(examples=["Sea otters hold hands while they sleep, so that they do not drift apart."]),
        ErrorCode("bad_text", missing="bad_contribution"),
    ]
    key: IdempotencyKey = None


class TextToCheck(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, ErrorCode("bad_text", missing="bad_contribution")]


class HistoryQuery(ShortPageQuery):
    contributor: Annotated[str | None, Field(description="your id of the contributor, escaped")] = None
    status: Annotated[str | None, OneOf(STATUSES), Field(description="only with this status")] = None
    before: Annotated[int | None, Field(ge=1, le=10**18, description="`next` of the page before"), FROM_DIGITS] = None


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
    nearest: Annotated[int | None, Field(description="the most similar contribution")] = None
    micro: Annotated[int | None, Field(description="similarity to it, in millionths")] = None
    similarity: Annotated[
        int | None, Field(description="similarity that was paid for, on the curve's scale, in millionths")
    ] = None
    new: Annotated[int | None, Field(description="share of it that no known run covers, in millionths")] = None
    facts: Annotated[Sha256 | None, Field(description="hash of the facts of the second look")] = None
    units: Units
    embedder: SenseName | None = None
    params_hash: Sha256 | None = None
    ledger: Annotated[str, Field(description="hash of the ledger's newest entry")]
    node: Annotated[str, Field(description="address of the signing hotkey")]
    scheme: Literal["sr25519", "ed25519"]
    signature: str


class Receipts(BaseModel):
    receipt: Receipt
    settlement: Receipt | None


class NoveltyCheckShown(BaseModel):
    """Pay that a text would get now."""

    status: Literal["paid", "held", "duplicate", "refused"]
    max_similarity: Annotated[float, Field(description="cosine to the nearest")]
    similarity: Annotated[float, Field(description="similarity that would be paid for, on the curve's scale")]
    nearest: int | None
    novelty: float
    units: Units
    held: bool
    doubts: Annotated[list[str], Field(description="reasons why it seems implausible")]


class Balance(BaseModel):
    contributor: str
    units: Units
    held: Units


class ContributionLine(BaseModel):
    id: int
    contributor: str
    at: float
    status: str
    units: Units
    micro: Annotated[int | None, Field(description="cosine to the nearest, in millionths")]
    similarity: Annotated[int | None, Field(description="what was paid for, in millionths")] = None
    nearest: int | None
    text_sha256: Sha256
    withdrawn: bool
    text: Annotated[str | None, Field(description="only for callers with the scope operate")] = None


class History(BaseModel):
    contributions: list[ContributionLine]
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
