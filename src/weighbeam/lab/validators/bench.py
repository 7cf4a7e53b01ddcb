"""All validators of a season at work: the rounds of those who work, the rows of everybody."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.engine.weigh_in.constants import CONSTANTS
from weighbeam.lab.arrays.tournament import Tournament
from weighbeam.lab.arrays.weigh import Sight, weigh_standings
from weighbeam.lab.crowd import Crowd, Floats, answer
from weighbeam.lab.validators.strategies import Strategy, Units, Validator
from weighbeam.mechanisms.chunking.params import ChunkingParams

FRESHNESS_HOURS = float(CONSTANTS["WEIGHT_FRESHNESS_HOURS"])


class Bench:
    """Rounds and weigh-ins of a population over a crowd."""

    def __init__(self, crowd: Crowd, seats: Sequence[Validator], params: ChunkingParams, seed: int) -> None:
        self.crowd, self.params, self.seed = crowd, params, seed
        self.seats = tuple(seats)
        self.chance = np.random.default_rng([seed, 1])
        self.working = np.array([i for i, seat in enumerate(self.seats) if seat.strategy.works], dtype=np.intp)
        self.spread = np.array([self.seats[i].spread for i in self.working.tolist()])
        hotkeys = [f"miner-{number:03}" for number in range(len(crowd))]
        self.tournament = Tournament(hotkeys, len(self.working), params)
        self.sight = Sight.blank(len(self.working), len(crowd))
        self.minds = {strategy: self._find(strategy) for strategy in {seat.strategy: None for seat in self.seats}}
        self.number = 0

    def _find(self, strategy: Strategy) -> NDArray[np.intp]:
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
        weighed = weigh_standings(self.tournament.scores, self.sight, now, self.params.curve, FRESHNESS_HOURS)
        own[self.working] = weighed.units
        rows = own.copy()
        for strategy, seats in self.minds.items():
            rows[seats] = strategy.write(own[seats], past)
        return rows

    def forget(self, crowd: Crowd, miners: NDArray[np.intp]) -> None:
        """Newcomers stand under these columns; `crowd` knows them."""
        self.crowd = crowd
        self.tournament.forget(miners)
        self.sight.forget(miners)
