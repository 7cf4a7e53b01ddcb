"""What a collected round holds: contributions and releases, each measured before, in the order they were committed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weighbeam.mechanisms.novelty.judge import DUPLICATE, Judgement, judge
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausible import Look, find_doubts
from weighbeam.mechanisms.novelty.reward import reward_units

Kind = Literal["contribution", "release"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that can pay. `micro` is None if there was nothing before it; `nearest` says who was nearest."""

    id: str
    kind: Kind
    text_sha256: str
    pieces: int
    nearest: str | None
    micro: int | None
    duplicate: bool
    look: Look | None

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
        if self.duplicate:
            return DUPLICATE
        if self.kind == "release":
            return Judgement("paid", reward_units(self.similarity, params))
        return judge(self.similarity, not self.doubts, params)
