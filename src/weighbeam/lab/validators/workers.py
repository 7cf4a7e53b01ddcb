"""Validators at work: rounds of those that work, weight rows of all."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import CONSTANTS
from weighbeam.lab.validators.crowd import Crowd, answer
from weighbeam.lab.validators.strategies import Units, ValidatorSeat, ValidatorStrategy
from weighbeam.lab.validators.weight_rows import Floats, LastAsked, Places, Statuses, WeightRows
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Seed

FRESHNESS_HOURS = float(CONSTANTS["WEIGHT_FRESHNESS_HOURS"])


class LabTournament(Protocol):
    """A mechanism's standings of many validators at once, as `Mechanism.lab_tournament` gives them."""

    rows: Places

    def choose(self, seeds: Sequence[Seed]) -> Any:
        """Miners that each validator asks in its next round: `members` are columns [validators, size]."""
        ...

    def stand(self, drawn: Any, rewards: Floats, statuses: Statuses) -> None:
        """Take one round of each validator in."""
        ...

    def weigh(self, sight: LastAsked, now: float, hours: float) -> WeightRows:
        """The row of each validator."""
        ...

    def forget(self, miners: Places) -> None:
        """Somebody new stands under these columns."""
        ...


class ValidatorWorkers:
    """Rounds and weigh-ins of a population over a crowd."""

    def __init__(
        self, crowd: Crowd, seats: Sequence[ValidatorSeat], mechanism: Mechanism, params: Params, seed: int
    ) -> None:
        self.crowd, self.seed = crowd, seed
        self.seats = tuple(seats)
        self.chance = np.random.default_rng([seed, 1])
        self.working = np.array([i for i, seat in enumerate(self.seats) if seat.strategy.works], dtype=np.intp)
        self.spread = np.array([self.seats[i].spread for i in self.working.tolist()])
        hotkeys = [f"miner-{number:03}" for number in range(len(crowd))]
        self.tournament = open_tournament(mechanism, params, hotkeys, len(self.working))
        self.sight = LastAsked.blank(len(self.working), len(crowd))
        self.minds = {strategy: self._find(strategy) for strategy in {seat.strategy: None for seat in self.seats}}
        self.number = 0

    def _find(self, strategy: ValidatorStrategy) -> NDArray[np.intp]:
        return np.array([i for i, seat in enumerate(self.seats) if seat.strategy == strategy], dtype=np.intp)

    def work(self, skill: Floats, begin: float, end: float, round_seconds: float) -> None:
        """Every round of every working validator from `begin` to `end`."""
        while self.number * round_seconds < end:
            at = max(begin, self.number * round_seconds)
            seeds = [f"{self.seed}/{row}/{self.number}" for row in range(len(self.working))]
            drawn = self.tournament.choose(seeds)
            got = answer(self.crowd, skill, drawn.members, self.chance, self.spread)
            self.tournament.stand(drawn, got.rewards, got.statuses)
            self.sight.note(self.tournament.rows, drawn.members, at, got.statuses)
            self.number += 1

    def write(self, now: float, past: Sequence[Units]) -> Units:
        """The row of each validator [validators, miners]; zeros where it sets none."""
        own = np.zeros((len(self.seats), len(self.crowd)), dtype=np.int64)
        own[self.working] = self.tournament.weigh(self.sight, now, FRESHNESS_HOURS).units
        rows = own.copy()
        for strategy, seats in self.minds.items():
            rows[seats] = strategy.write(own[seats], past)
        return rows

    def forget(self, crowd: Crowd, miners: NDArray[np.intp]) -> None:
        """Newcomers stand under these columns; `crowd` knows them."""
        self.crowd = crowd
        self.tournament.forget(miners)
        self.sight.forget(miners)


def open_tournament(mechanism: Mechanism, params: Params, hotkeys: Sequence[str], validators: int) -> LabTournament:
    found: LabTournament | None = mechanism.lab_tournament(params, hotkeys, validators)
    if found is None:
        remedy = "name a mechanism that has a lab_tournament"
        raise WeighbeamError("unknown_world", f"the lab cannot simulate years of {mechanism.name!r}", remedy)
    return found
