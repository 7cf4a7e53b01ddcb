"""One season of a population of honest miners and attackers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.lab.attack.attack import MinerTrial
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Crew, Season, play_seats, seat_miners
from weighbeam.lab.simulate.world import MinerStrategy
from weighbeam.lab.simulate.worlds import make_world
from weighbeam.lab.trials.bench import check_length
from weighbeam.lab.trials.params import check_params

MAX_MINERS = 256


@dataclass(frozen=True, slots=True)
class Population:
    """Participants: `honest` miners, or as many as the world has; `attackers` says how many play which family."""

    mechanism: str
    honest: int | None
    attackers: Mapping[str, int]


def simulate(
    population: Population, seed: int, season: Season | None = None, params: Mapping[str, Any] | None = None
) -> Trial:
    """Played here and now, in this process. An attacker is named after its family."""
    length = season or Season()
    check_length(1, length.rounds)
    check_params(population.mechanism, params or {})
    crews = [
        Crew(name, find_strategy(population.mechanism, name), count) for name, count in population.attackers.items()
    ]
    world = make_world(population.mechanism, params or {})
    honest, others = world.honest if population.honest is None else population.honest, sum(crew.count for crew in crews)
    fits = honest >= 1 and honest + others <= MAX_MINERS
    require(
        fits, "bad_population", f"{honest} honest and {others} other miners", f"1 honest at least, {MAX_MINERS} in all"
    )
    return play_seats(world, seat_miners(honest, crews, seed), seed, length)


def find_strategy(mechanism: str, family: str) -> MinerStrategy:
    known = {one.family: one.run for one in list_attacks() if one.mechanism == mechanism}
    run = known.get(family)
    if not isinstance(run, MinerTrial):
        played = ", ".join(name for name, how in sorted(known.items()) if isinstance(how, MinerTrial))
        told = f"no miner plays {family!r} in a season of {mechanism}"
        raise WeighbeamError("unknown_attack", told, f"use one of: {played}")
    return run.strategy()
