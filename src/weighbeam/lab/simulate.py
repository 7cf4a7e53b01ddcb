"""One season of a population: so many honest miners, so many that play each of some attacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.lab.attack import ByMiners
from weighbeam.lab.bench import check_length
from weighbeam.lab.catalogue import list_attacks
from weighbeam.lab.measure import Trial
from weighbeam.lab.params import check_params
from weighbeam.lab.play import Season, play_season
from weighbeam.lab.world import Recycles, Said, Strategy, Turn, World
from weighbeam.lab.worlds.make import make_world

MOST_MINERS = 256


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who takes part: `attackers` says how many play which family. Their names follow that order."""

    mechanism: str
    honest: int | None
    attackers: Mapping[str, int]

    def name_attackers(self) -> dict[str, str]:
        """
        >>> Crowd("inference", 8, {"copycat": 1, "padding": 2}).name_attackers()
        {'attacker-000': 'copycat', 'attacker-001': 'padding', 'attacker-002': 'padding'}
        """
        families = [family for family, count in self.attackers.items() for _ in range(count)]
        return {f"attacker-{place:03}": family for place, family in enumerate(families)}


@dataclass(frozen=True, slots=True)
class Mixed:
    """Several minds in one season, each for its own identities."""

    minds: Mapping[str, Strategy]

    def answer(self, world: World, turn: Turn) -> Said:
        return self.minds[turn.me.name].answer(world, turn)


def simulate(crowd: Crowd, seed: int, season: Season | None = None, params: Mapping[str, Any] | None = None) -> Trial:
    """Played here and now, in this process."""
    length = season or Season()
    check_length(1, length.rounds)
    check_params(crowd.mechanism, params or {})
    strategy = make_strategy(crowd)
    world = make_world(crowd.mechanism, params or {})
    own = world.honest
    world.honest = own if crowd.honest is None else crowd.honest
    count = sum(crowd.attackers.values())
    fits = world.honest >= 1 and world.honest + count <= MOST_MINERS
    require(fits, "bad_crowd", f"{world.honest} honest and {count} other miners", f"keep to 1 to {MOST_MINERS} in all")
    try:
        return play_season(world, strategy, count, seed, length)
    finally:
        world.honest = own


def make_strategy(crowd: Crowd) -> Strategy | None:
    """One mind for each family, and one that knows whose turn is whose."""
    minds = {family: find_strategy(crowd.mechanism, family) for family, count in crowd.attackers.items() if count}
    if len(minds) <= 1:
        return next(iter(minds.values()), None)
    alone = [family for family, mind in minds.items() if isinstance(mind, Recycles)]
    require(not alone, "bad_crowd", f"those of {', '.join(alone)} change their hotkeys", "simulate it without others")
    return Mixed({name: minds[family] for name, family in crowd.name_attackers().items()})


def find_strategy(mechanism: str, family: str) -> Strategy:
    known = {one.family: one.run for one in list_attacks() if one.mechanism == mechanism}
    run = known.get(family)
    if not isinstance(run, ByMiners):
        played = ", ".join(name for name, how in sorted(known.items()) if isinstance(how, ByMiners))
        told = f"nobody plays {family!r} in a season of {mechanism}"
        raise WeighbeamError("unknown_attack", told, f"use one of: {played}")
    return run.strategy()
