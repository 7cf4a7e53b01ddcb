"""What a collected round holds: contributions and releases, each measured before, in the order they were committed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weighbeam.mechanisms.novelty.judge import DUPLICATE, Judgement, Status, judge
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausible import Look, find_doubts

Kind = Literal["contribution", "release"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that can pay. `micro` is None if there was nothing before it; `nearest` says who was nearest. What was
    decided when it came in is recorded (`status`, `units`, `at`) and is what counts; a text that is only asked about
    has none of it, and is judged by the parameters."""

    id: str
    kind: Kind
    text_sha256: str
    pieces: int
    nearest: str | None
    micro: int | None
    duplicate: bool
    look: Look | None
    status: Status | None = None
    units: int | None = None
    at: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Event":
        look = given["look"]
        return cls(**{**given, "look": None if look is None else Look.from_json(look)})

    @property
    def doubts(self) -> tuple[str, ...]:
        return () if self.look is None else find_doubts(self.look)

    @property
    def similarity(self) -> int:
        """In millionths; an empty corpus counts as 0."""
        return self.micro or 0

    def judge(self, params: NoveltyParams) -> Judgement:
        if self.status is not None and self.units is not None:
            return Judgement(self.status, self.units)
        if self.duplicate:
            return DUPLICATE
        return judge(self.similarity, not self.doubts, params)
