"""Trials of attacks on evidence: seasons long enough for twenty turns each, and the reference miners' tricks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from weighbeam.lab.attack.attack import MinerTrial, TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import play_season
from weighbeam.lab.simulate.world import MinerStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanisms.evidence.lab.world import EvidenceWorld
from weighbeam.mechanisms.evidence.miners.tricks import TRICKS

AT_ONCE = 0.2
LONGER = 2


@dataclass(frozen=True, slots=True)
class FinderTrial(MinerTrial):
    """A round asks five of some seventeen miners: a season has twice the rounds of others, or `longer` times. `params`
    are those of this attack, unless the setting has others."""

    longer: int = LONGER
    params: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, seed: int, setting: TrialSetting) -> Trial:
        world = setting.worlds(self.mechanism, {**self.params, **setting.params})
        season = replace(setting.season, rounds=setting.season.rounds * self.longer)
        return play_season(world, self.strategy(), self.identities, seed, season)


def by_finders(
    strategy: Callable[[], MinerStrategy],
    identities: int = 1,
    longer: int = LONGER,
    params: Mapping[str, Any] | None = None,
) -> FinderTrial:
    return FinderTrial("evidence", strategy, identities, longer, params or {})


def enter(world: World) -> EvidenceWorld:
    """The world of evidence, where alone its attacks can be played."""
    if not isinstance(world, EvidenceWorld):
        raise TypeError(f"{world.mechanism.name} is not evidence")
    return world


@dataclass(frozen=True, slots=True)
class PlaysTrick:
    """The strategy that plays one trick of the reference miners at every turn; without `seconds` it takes the time that
    work takes."""

    trick: str
    seconds: float | None = None

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        return play_trick(self.trick, turn, enter(world).take_time(turn) if self.seconds is None else self.seconds)


def play_trick(trick: str, turn: MinerTurn, seconds: float) -> SimulatedAnswer:
    return SimulatedAnswer(TRICKS[trick](turn.task.body["statement"]), seconds)
