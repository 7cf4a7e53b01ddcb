"""What a mechanism may have besides the contract: each a small protocol, found by looking whether it is kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from weighbeam.core.canonical import Json
from weighbeam.mechanisms.contract import Answer, Observation, Score, Standing, Weights
from weighbeam.pictures.heatmap import Heatmap
from weighbeam.senses.ports import Narrator

Verb = Literal["choose", "ask", "observe", "score", "stand", "weigh"]

COLLECTED = "collected"
"""The task of a round that asks nobody."""
MOST_COLLECTED = 1000
"""The most contributions of such a round."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What came in since the last round: one answer per contributor, and up to where it was read."""

    answers: tuple[Answer, ...]
    cursor: Json
    is_all: bool = True


class Collector(Protocol):
    """Where a collected round's contributions come from."""

    def collect(self, cursor: Json, most: int) -> Collected:
        """At most so many contributions after `cursor`, None for the beginning, in the order they were committed."""
        ...


@runtime_checkable
class Collects(Protocol):
    """What a mechanism of the kind `collected` has besides. `choose`, `generate_task` and `pose` are not used of it:
    a round holds what came in since the last one, one answer per contributor, in the order it was committed."""

    def is_stale(self, params: Any, standings: Sequence[Standing], now: float) -> bool:
        """Whether a round without any contribution would change a standing by now. Pure."""
        ...


@runtime_checkable
class Burns(Protocol):
    """What a mechanism has besides if it burns a share of its weights, its parameter `burn_share`."""

    def weigh_burning(
        self, params: Any, standings: Sequence[Standing], eligible: Collection[str], burn: str | None
    ) -> Weights:
        """Raw weights of the eligible and of `burn`, who takes the burnt share; None if nobody does. Pure."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric: a counter adds up over rounds, a gauge is what the last round said; `help` is one line for people."""

    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()


@runtime_checkable
class Measures(Protocol):
    """What a mechanism has besides if its rounds are counted: `weighbeam_MECHANISM_NAME` in `/metrics`.

    The summary of its scores holds `metrics`, rows of `[name, label values, number]`.
    """

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Every metric there may be, by name (lower case, digits, underscores)."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """A round in words, who told it, and why a model that was asked did not."""

    text: str
    by: str = "deterministic"
    fault: str | None = None


@runtime_checkable
class Tells(Protocol):
    """What a mechanism may have besides: a picture and a narrative of each round.

    Both are made after the scores are durable, from the journal alone, and are an input of nothing.
    """

    def draw(self, params: Any, observation: Observation, round_id: str) -> Heatmap | None:
        """How alike the answers were; None if there is nothing to draw, or the parameters want none."""
        ...

    def tell(
        self,
        params: Any,
        observation: Observation,
        picture: str | None,
        narrator: Narrator | None,
        nonce: str,
    ) -> Told:
        """The narrative; `picture` is where the picture is, `nonce` 16 hex digits that no miner can know."""
        ...


@runtime_checkable
class Spreads(Protocol):
    """What a mechanism may have besides if its standing is an estimate: how sure it is, for people to see.

    Averages of emissions (`WeighRule.standing`) are the engine's, and so is their spread.
    """

    def spread(self, params: Any, standing: Standing, course: Sequence[float]) -> float | None:
        """One standard error of `standing`, given the miner's standings after its last rounds, oldest first.

        None where that cannot be said: fewer than three rounds, or a standing that is exact. Pure.
        """
        ...


@dataclass(frozen=True, slots=True)
class Advice:
    """What a miner should change. `gain` is what a round's score would gain by it on average, if that can be said."""

    title: str
    text: str
    gain: float | None = None


Pair: TypeAlias = tuple[Score, Score | None]
"""A miner's score of a round, and the valid one of the highest value in the same round; None if there was none."""


@runtime_checkable
class Advises(Protocol):
    """What a mechanism may have besides: what a miner should improve, and what its reasons mean.

    Everything said is the mechanism's own words and numbers: never a text that a miner sent.
    """

    @property
    def meanings(self) -> Mapping[str, str]:
        """For every reason a score can have, one sentence: what it means and what to do."""
        ...

    def advise(self, params: Any, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        """At most five, the most worthwhile first, from a miner's recent rounds, oldest first. Pure."""
        ...


@dataclass(frozen=True, slots=True)
class ReadBy:
    """What of a round a parameter changes; no verb if it only changes what people are shown.

    Where `observe` is among the verbs, `holds` says which other values can still be tried on what was observed: any,
    only higher ones (what they leave out was all observed), only lower ones; None if it must be observed anew.
    """

    verbs: tuple[Verb, ...]
    holds: Literal["any", "raised", "lowered"] | None = None


@runtime_checkable
class Reads(Protocol):
    """What a mechanism may have besides, so that recorded rounds can be tried under other parameters.

    Of one that does not say it, every parameter counts as read by every verb.
    """

    @property
    def read_by(self) -> Mapping[str, ReadBy]:
        """For every parameter, by whom it is read."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """What a mechanism has besides if pay is decided before its round, when something comes in, and only repeated in
    the observation."""

    def reopen(self, params: Any, observation: Observation) -> Observation:
        """The observation as if all of it had been decided under `params`. Pure."""
        ...
