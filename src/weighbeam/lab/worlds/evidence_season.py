"""How attacks on evidence are played: seasons long enough for everybody to be asked twenty times, and answers that more
than one attack gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbeam.lab.attack import Setting
from weighbeam.lab.measure import Trial
from weighbeam.lab.play import play_season
from weighbeam.lab.world import Said, Strategy, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.miners.evidence_tricks import TRICKS

LONGER = 2
"""A round asks five of some seventeen: a season has twice the rounds of others."""
AT_ONCE = 0.2


def by_finders(
    strategy: Callable[[EvidenceWorld], Strategy],
    identities: int = 1,
    longer: int = LONGER,
    params: Mapping[str, Any] | None = None,
) -> Callable[[int, Setting], Trial]:
    """A trial in which so many identities of one operator play a strategy. `params` are those of this attack, unless
    the setting has others."""

    def run(seed: int, setting: Setting) -> Trial:
        world = setting.worlds("evidence", {**(params or {}), **setting.params})
        if not isinstance(world, EvidenceWorld):
            raise TypeError("attacks on evidence are played in its own world")
        season = replace(setting.season, rounds=setting.season.rounds * longer)
        return play_season(world, strategy(world), identities, seed, season)

    return run


@dataclass(frozen=True, slots=True)
class Tricks:
    """The strategy that plays one trick of the reference miners at every turn; without `seconds` it takes the time that
    work takes."""

    world: EvidenceWorld
    trick: str
    seconds: float | None = None

    def answer(self, world: World, turn: Turn) -> Said:
        seconds = self.world.take_time(turn) if self.seconds is None else self.seconds
        return Said(play_trick(self.trick, turn), seconds)


def play_trick(trick: str, turn: Turn) -> dict[str, Any]:
    return TRICKS[trick](turn.task.body["statement"])


def work_best(world: EvidenceWorld, turn: Turn) -> Said:
    """The answer of an honest miner whom nobody surpasses."""
    return world.answer(replace(turn, me=replace(turn.me, skill=1.0)))


def find_first(turn: Turn) -> tuple[str, Said]:
    """Whom to copy: of those who were overheard the one that stands best."""
    values = {standing.hotkey: standing.value or 0.0 for standing in turn.standings}
    best = max(turn.heard, key=lambda hotkey: (values.get(hotkey, 0.0), hotkey))
    return best, turn.heard[best]
