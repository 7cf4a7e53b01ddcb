"""Tricks of miners who could work as well are measured by what work would have earned them.

Where the first of many takes half of all pay, the average says little about what a good miner gives up. So the same
season is played once more with an attacker who works, and it and its equals say what work earns.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from weighbeam.lab.attack import Setting
from weighbeam.lab.measure import Trial
from weighbeam.lab.play import Season, play_season
from weighbeam.lab.world import Always, Said, Strategy, Turn, World

SKILL = 0.95
EQUALS = 0.05
"""Who is no more than so much better or worse."""
KEPT = 256


def work(world: World, turn: Turn, skill: float = SKILL) -> Said:
    """What an honest miner of that skill would say."""
    return world.answer(replace(turn, me=replace(turn.me, skill=skill)))


def beside_work(mechanism: str, strategy: Callable[[], Strategy], identities: int) -> Callable[[int, Setting], Trial]:
    """A trial like any other, but `fair` is what a miner of the attackers' skill earns by honest work."""

    def run(seed: int, setting: Setting) -> Trial:
        world = setting.worlds(mechanism, setting.params)
        trial = play_season(world, strategy(), identities, seed, setting.season)
        return replace(trial, fair=_earn_by_work(world, seed, setting.season))

    return run


@lru_cache(KEPT)
def _earn_by_work(world: World, seed: int, season: Season) -> float:
    twin = play_season(world, Always(work), 1, seed, season)
    equals = [name for name, skill in twin.skill.items() if abs(skill - SKILL) <= EQUALS] + [*twin.attackers]
    return sum(twin.earned[name] for name in equals) / len(equals)
