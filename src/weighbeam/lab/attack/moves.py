"""Moves shared by attacks of any mechanism: honest work, listening to others, reading one's place, and trials compared
with honest work.

Where the first of many takes half of all pay, the average says little about what a good miner gives up. So the same
season is played once more with as many who work, and they and their equals say what work earns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from weighbeam.core.canonical import canonical_json
from weighbeam.lab.attack.attack import MinerTrial, TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.world import FixedStrategy, MinerStrategy, MinerTurn, SimulatedAnswer, World


def answer_as(world: World, turn: MinerTurn, skill: float) -> SimulatedAnswer:
    """Answer of an honest miner of another skill at this turn."""
    return world.answer(replace(turn, me=replace(turn.me, skill=skill)))


MOMENT = 0.1


def hear_best(world: World, turn: MinerTurn) -> SimulatedAnswer | None:
    """The answer of the best honest miner of the round; None if no honest miner was asked."""
    sign = -1.0 if world.mechanism.better == "lower" else 1.0
    known = {standing.hotkey: sign * standing.value for standing in turn.standings if standing.value is not None}
    best = max(sorted(turn.heard), key=lambda hotkey: known.get(hotkey, float("-inf")), default=None)
    return None if best is None else turn.heard[best]


def repeat_best(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Word for word; with nobody to listen to, one's own work."""
    heard = hear_best(world, turn)
    return world.answer(turn) if heard is None else replace(heard, seconds=heard.seconds + MOMENT)


def find_place(world: World, turn: MinerTurn) -> tuple[int | None, int]:
    """How many stand before the miner whose turn it is, None if it has no standing yet; and how many have one."""
    sign = -1.0 if world.mechanism.better == "lower" else 1.0
    known = {one.hotkey: sign * one.value for one in turn.standings if one.value is not None}
    own = known.get(turn.hotkey)
    return None if own is None else sum(value > own for value in known.values()), len(known)


SKILL = 0.95
EQUALS = 0.05
"""Skills that differ by at most this much."""
KEPT: dict[tuple[str, bytes, int, int, Season], float] = {}


def work(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Answer of a good miner that works honestly."""
    return answer_as(world, turn, SKILL)


@dataclass(frozen=True, slots=True)
class TwinTrial(MinerTrial):
    """A trial like any other, but `fair` is what a miner of the attackers' skill earns by honest work."""

    one: ClassVar[str] = f"what a miner of the same skill ({SKILL}) earns by honest work"

    def __call__(self, seed: int, setting: TrialSetting) -> Trial:
        world = setting.worlds(self.mechanism, setting.params)
        trial = play_season(world, self.strategy(), self.identities, seed, setting.season)
        return replace(trial, fair=_earn_by_work(world, self.identities, seed, setting.season))


def beside_work(mechanism: str, strategy: Callable[[], MinerStrategy], identities: int) -> TwinTrial:
    return TwinTrial(mechanism, strategy, identities)


def _earn_by_work(world: World, identities: int, seed: int, season: Season) -> float:
    """Played once for all attacks that are compared with it."""
    key = world.mechanism.name, canonical_json(world.params.model_dump(mode="json")), identities, seed, season
    if key not in KEPT:
        twin = play_season(world, FixedStrategy(work), identities, seed, season)
        equals = [name for name, skill in twin.skill.items() if abs(skill - SKILL) <= EQUALS] + [*twin.attackers]
        KEPT[key] = sum(twin.earned[name] for name in equals) / len(equals)
    return KEPT[key]
