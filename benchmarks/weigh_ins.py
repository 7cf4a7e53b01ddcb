"""A year of one validator's weigh-ins over a crowd: rounds every 300 s, weights every 4,320 s, as the engine pays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.averages import Averages
from benchmarks.solo_tournament import SoloTournament
from weighbeam.engine.rules.constants import CHALLENGE_INTERVAL_SECONDS, CONSTANTS, WEIGHTS_INTERVAL_SECONDS
from weighbeam.lab.validators.crowd import Crowd, CrowdAnswers, time_answers
from weighbeam.lab.validators.weight_rows import (
    HOUR,
    VALID,
    Floats,
    LastAsked,
    Places,
    Statuses,
    WeightRows,
    share_rows,
)
from weighbeam.mechanisms.chunking.lab.tournament import weigh_standings
from weighbeam.mechanisms.chunking.params import ChunkingParams

DAY = 86_400.0
FRESHNESS_HOURS = float(CONSTANTS["WEIGHT_FRESHNESS_HOURS"])
MAX_MINERS = int(CONSTANTS["MAX_MINERS"])
ROW = np.zeros(1, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class WeighIn:
    """One weigh-in: when, how many rounds went before, and the row (the first of `rows`)."""

    at: float
    rounds: int
    rows: WeightRows


def weigh_chunking(crowd: Crowd, params: ChunkingParams, seed: int, days: float = 365.0) -> Iterator[WeighIn]:
    """Weigh-ins of the chunking tournament."""
    chance = np.random.default_rng(seed)
    solo = SoloTournament([f"miner-{number:03}" for number in range(len(crowd))], params)
    sight = LastAsked.blank(1, len(crowd))
    for now, first, stop in _schedule(days):
        got = answer_all(crowd, crowd.skill, stop - first, chance)
        asked: list[list[int]] = []
        for number, rewards, statuses in zip(range(first, stop), got.rewards, got.statuses, strict=True):
            turn = solo.choose(f"{seed}/{number}")
            solo.stand(turn, rewards[turn.members].tolist(), statuses[turn.members].tolist())
            asked.append(turn.members)
        _note(sight, asked, first, got)
        yield WeighIn(now, stop, weigh_standings(solo.scores[None], sight, now, params.curve, FRESHNESS_HOURS))


def weigh_emissions(crowd: Crowd, seed: int, days: float = 365.0) -> Iterator[WeighIn]:
    """Weigh-ins of a mechanism paid by averaged emissions: ten miners a round, those judged least often first.

    Which of equals are asked is left to the generator, where the engine has its digests.
    """
    chance = np.random.default_rng(seed)
    averages, sight = Averages(1, len(crowd)), LastAsked.blank(1, len(crowd))
    size = min(MAX_MINERS, len(crowd))
    for now, first, stop in _schedule(days):
        got = answer_all(crowd, crowd.skill, stop - first, chance)
        emissions = np.where(got.statuses == VALID, np.maximum(got.rewards, 0.0), 0.0)
        lots = chance.random(emissions.shape)
        asked: list[Places] = []
        for number, (emission, lot) in enumerate(zip(emissions, lots, strict=True), first):
            at = number * CHALLENGE_INTERVAL_SECONDS
            members = np.argpartition(averages.count(at)[0] + lot, size - 1)[:size]
            averages.add(ROW, members, at, emission[members])
            asked.append(members)
        _note(sight, asked, first, got)
        yield WeighIn(now, stop, weigh_averages(averages.fold(now), sight, now, FRESHNESS_HOURS))


def answer_all(crowd: Crowd, skill: Floats, rounds: int, chance: np.random.Generator) -> CrowdAnswers:
    """What every miner would answer in each of some rounds [rounds, miners], whoever is asked."""
    luck = chance.standard_normal((rounds, len(crowd)))[:, crowd.source]
    quality = skill[crowd.source] + crowd.noise[crowd.source] * luck
    everybody = np.broadcast_to(np.arange(len(crowd)), quality.shape)
    return time_answers(crowd, everybody, quality, chance)


def weigh_averages(averages: Floats, sight: LastAsked, now: float, hours: float) -> WeightRows:
    """The weigh-in of a mechanism paid by averaged emissions, where whoever has no success is stale."""
    last = sight.gate(now, hours, only_if_asked=False)
    return share_rows(np.where(now - last <= hours * HOUR, averages, 0.0))


def _note(sight: LastAsked, asked: Sequence[Sequence[int] | Places], first: int, got: CrowdAnswers) -> None:
    """Remember whom the rounds since the last weigh-in asked."""
    members = np.array(asked, dtype=np.intp)
    at = np.arange(first, first + len(members), dtype=np.float64) * CHALLENGE_INTERVAL_SECONDS
    note_rounds(sight, members, at, np.take_along_axis(got.statuses, members, axis=1))


def note_rounds(sight: LastAsked, members: Places, at: Floats, statuses: Statuses) -> None:
    """Remember some rounds of the first validator [rounds, size], the oldest first: of one column the last stays."""
    times = np.broadcast_to(at[:, None], members.shape)
    asked, good = statuses < 2, statuses == 0
    sight.asked_at[0, members[asked]] = times[asked]
    sight.success_at[0, members[good]] = times[good]


def _schedule(days: float) -> Iterator[tuple[float, int, int]]:
    """Each weigh-in's time, and the first and last (excluded) number of the rounds since the one before."""
    first = 0
    for number in range(1, int(days * DAY / WEIGHTS_INTERVAL_SECONDS) + 1):
        now = number * WEIGHTS_INTERVAL_SECONDS
        stop = int(now // CHALLENGE_INTERVAL_SECONDS) + 1
        yield now, first, stop
        first = stop
