"""Seasons of novelty are about tokens: nobody's pay makes another's smaller, unless it says the same first."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from weighbeam.core.canonical import canonical_json
from weighbeam.lab.attack import ByMiners, Setting
from weighbeam.lab.measure import Trial
from weighbeam.lab.play import Season, play_season
from weighbeam.lab.world import Said, Strategy, Turn, World
from weighbeam.lab.worlds.novelty import NoveltyWorld

KEPT: dict[tuple[bytes, int, int, Season], float] = {}
Write = Callable[[NoveltyWorld, Turn], str]


@dataclass(frozen=True, slots=True)
class Writes:
    """The strategy that hands in one text at every turn."""

    write: Write

    def answer(self, world: World, turn: Turn) -> Said:
        assert isinstance(world, NoveltyWorld)
        return world.hand_in(turn, self.write(world, turn))


@dataclass(frozen=True, slots=True)
class ByContributors(ByMiners):
    """A trial paid in tokens. `fair` is what all together, the attackers too, earn on average by honest work."""

    def __call__(self, seed: int, setting: Setting) -> Trial:
        world = setting.worlds(self.mechanism, setting.params)
        assert isinstance(world, NoveltyWorld)
        fair = _earn_by_work(world, self.identities, seed, setting.season)
        return replace(_play(world, self.strategy(), self.identities, seed, setting.season), fair=fair)


def by_contributors(write: Callable[[], Write], identities: int) -> ByContributors:
    return ByContributors("novelty", lambda: Writes(write()), identities)


def _play(world: NoveltyWorld, strategy: Strategy | None, identities: int, seed: int, season: Season) -> Trial:
    trial = play_season(world, strategy, identities, seed, season)
    return replace(trial, earned=dict.fromkeys(trial.earned, 0.0) | world.count_tokens())


def _earn_by_work(world: NoveltyWorld, identities: int, seed: int, season: Season) -> float:
    """Played once for all attacks that are compared with it."""
    key = canonical_json(world.params.model_dump(mode="json")), identities, seed, season
    if key not in KEPT:
        earned = _play(world, None, identities, seed, season).earned
        KEPT[key] = sum(earned.values()) / len(earned)
    return KEPT[key]
