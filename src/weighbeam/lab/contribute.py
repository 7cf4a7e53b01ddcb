"""Seasons of novelty are about tokens: nobody's pay makes another's smaller, unless it says the same first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from weighbeam.lab.attack import Setting
from weighbeam.lab.measure import Trial
from weighbeam.lab.play import Season, play_season
from weighbeam.lab.world import Said, Strategy, Turn, World
from weighbeam.lab.worlds.novelty import NoveltyWorld, say

KEPT = 256
Write = Callable[[NoveltyWorld, Turn], str]


@dataclass(frozen=True, slots=True)
class Writes:
    """The strategy that hands in one text at every turn, and leaves word whose it was."""

    write: Write

    def answer(self, world: World, turn: Turn) -> Said:
        assert isinstance(world, NoveltyWorld)
        world.note(turn)
        return say(self.write(world, turn))


def by_contributors(write: Callable[[], Write], identities: int) -> Callable[[int, Setting], Trial]:
    """A trial paid in tokens. `fair` is what all together, the attackers too, earn on average by honest work."""

    def run(seed: int, setting: Setting) -> Trial:
        world = setting.worlds("novelty", setting.params)
        assert isinstance(world, NoveltyWorld)
        trial = _play(world, Writes(write()), identities, seed, setting.season)
        return replace(trial, fair=_earn_by_work(world, identities, seed, setting.season))

    return run


def _play(world: NoveltyWorld, strategy: Strategy | None, identities: int, seed: int, season: Season) -> Trial:
    trial = play_season(world, strategy, identities, seed, season)
    return replace(trial, earned={name: 0.0 for name in trial.earned} | world.count_tokens())


@lru_cache(KEPT)
def _earn_by_work(world: NoveltyWorld, identities: int, seed: int, season: Season) -> float:
    earned = _play(world, None, identities, seed, season).earned
    return sum(earned.values()) / len(earned)
