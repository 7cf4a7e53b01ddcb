"""Events of a collected round, contributions and releases in commit order, and their re-decision under other reward
parameters.

How near each was to its nearest neighbour is recorded, and so is who was held, released or refused: that stays.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.novelty.facts import NoveltyFacts, Valuation, parse_facts, value_contribution
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausibility import TextLook, find_doubts
from weighbeam.mechanisms.novelty.reward import DUPLICATE, Judgement, Status, judge_value

Kind = Literal["contribution", "release"]


@dataclass(frozen=True, slots=True)
class NoveltyEvent:
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
    look: TextLook | None
    status: Status | None = None
    units: int | None = None
    at: float | None = None
    facts: NoveltyFacts | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(replace(self, facts=None)), "facts": None if self.facts is None else self.facts.as_json()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "NoveltyEvent":
        look, facts = given["look"], parse_facts(given.get("facts"))
        return cls(**{**given, "look": None if look is None else TextLook.from_json(look), "facts": facts})

    @property
    def doubts(self) -> tuple[str, ...]:
        return () if self.look is None else find_doubts(self.look)

    @property
    def similarity(self) -> int:
        """The cosine in millionths; an empty corpus counts as 0."""
        return self.micro or 0

    def value(self, params: NoveltyParams) -> Valuation:
        return value_contribution(self.similarity, self.facts, params)

    def judge(self, params: NoveltyParams) -> Judgement:
        if self.status is not None and self.units is not None:
            return Judgement(self.status, self.units)
        if self.duplicate:
            return DUPLICATE
        return judge_value(self.value(params).units, not self.doubts, params)


def reopen_round(params: NoveltyParams, observation: Observation) -> Observation:
    rows = [
        {**row, "events": [_reopen(NoveltyEvent.from_json(one), params).as_json() for one in row["events"]]}
        for row in observation.facts["contributors"]
    ]
    facts: Mapping[str, Any] = {**observation.facts, "contributors": rows}
    return Observation(facts, observation.arrays, observation.texts)


def _reopen(event: NoveltyEvent, params: NoveltyParams) -> NoveltyEvent:
    if event.status not in ("paid", "held"):
        return event
    return replace(event, units=event.value(params).units)
