"""Tricks of miners who could work as well are measured by what work would have earned them.

Where the first of many takes half of all pay, the average says little about what a good miner gives up. So the same
season is played once more with as many who work, and they and their equals say what work earns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from weighbeam.core.canonical import canonical_json
from weighbeam.lab.attack import ByMiners, Setting
from weighbeam.lab.honest import answer_as
from weighbeam.lab.measure import Trial
from weighbeam.lab.play import Season, play_season
from weighbeam.lab.world import Always, Said, Strategy, Turn, World

SKILL = 0.95
EQUALS = 0.05
"""Who is no more than so much better or worse."""
KEPT: dict[tuple[str, bytes, int, int, Season], float] = {}


def work(world: World, turn: Turn) -> Said:
    """What a good miner says that works."""
    return answer_as(world, turn, SKILL)


@dataclass(frozen=True, slots=True)
class BesideWork(ByMiners):
    """A trial like any other, but `fair` is what a miner of the attackers' skill earns by honest work."""

    one: ClassVar[str] = f"what a miner of the same skill ({SKILL}) earns by honest work"

    def __call__(self, seed: int, setting: Setting) -> Trial:
        world = setting.worlds(self.mechanism, setting.params)
        trial = play_season(world, self.strategy(), self.identities, seed, setting.season)
        return replace(trial, fair=_earn_by_work(world, self.identities, seed, setting.season))


def beside_work(mechanism: str, strategy: Callable[[], Strategy], identities: int) -> BesideWork:
    return BesideWork(mechanism, strategy, identities)


def _earn_by_work(world: World, identities: int, seed: int, season: Season) -> float:
    """Played once for all attacks that are compared with it."""
    key = world.mechanism.name, canonical_json(world.params.model_dump(mode="json")), identities, seed, season
    if key not in KEPT:
        twin = play_season(world, Always(work), identities, seed, season)
        equals = [name for name, skill in twin.skill.items() if abs(skill - SKILL) <= EQUALS] + [*twin.attackers]
        KEPT[key] = sum(twin.earned[name] for name in equals) / len(equals)
    return KEPT[key]
