"""An attack of the catalogue: its description, its defence, and how one season of it is played."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.world import MinerStrategy, World

YUMA = "yuma"
"""Under `mechanism`: the chain's own, which turns the weights of many validators into pay."""


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """Setting of a trial: changed parameters, and its length. `worlds` makes the world
    of a mechanism; one is made for each set of parameters and kept, since senses take long to wake."""

    worlds: Callable[[str, Mapping[str, Any]], World]
    params: Mapping[str, Any] = field(default_factory=dict)
    season: Season = field(default_factory=Season)


@dataclass(frozen=True, slots=True)
class MinerTrial:
    """A trial in which `identities` of one operator play a strategy, made for each season. `one`
    says what a profit of 1 is."""

    one: ClassVar[str] = "what a miner earns on average"
    mechanism: str
    strategy: Callable[[], MinerStrategy]
    identities: int

    def __call__(self, seed: int, setting: TrialSetting) -> Trial:
        world = setting.worlds(self.mechanism, setting.params)
        return play_season(world, self.strategy(), self.identities, seed, setting.season)


@dataclass(frozen=True, slots=True)
class Attack:
    """`family` names its page: one idea may be tried on several mechanisms. `what` says how it works,
    `against` what the mechanism does about it, `open` what stays possible; each a sentence or two for people. `counted`
    says what a profit of 1 is, if no kind of trial by miners does."""

    family: str
    mechanism: str
    what: str
    against: str
    open: str
    run: Callable[[int, TrialSetting], Trial]
    counted: str = ""

    @property
    def name(self) -> str:
        """
        >>> Attack("copycat", "inference", "", "", "", lambda seed, setting: NotImplemented).name
        'inference/copycat'
        """
        return f"{self.mechanism}/{self.family}"

    @property
    def one(self) -> str:
        """The meaning of a profit of 1."""
        return self.run.one if isinstance(self.run, MinerTrial) else self.counted


def by_miners(mechanism: str, strategy: Callable[[], MinerStrategy], identities: int) -> MinerTrial:
    return MinerTrial(mechanism, strategy, identities)
