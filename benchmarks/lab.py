"""How much of a year the lab plays in a second: `python -m benchmarks.lab` runs it alone.

CPU seconds on one core, the best of several laps; the code that pays runs beside the arrays that stand for it.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import Line, show_lines, time_once
from benchmarks.sparse_epoch import gather_subnet, run_epoch_dense
from benchmarks.weigh_ins import weigh_chunking, weigh_emissions
from weighbeam.core.stats import order_standings
from weighbeam.core.yuma.dense import run_dense
from weighbeam.core.yuma.epoch import YumaParams, YumaSubnet, run_epoch
from weighbeam.lab.validators.crowd import draw_crowd
from weighbeam.lab.validators.strategies import ColludingValidator, CopyingValidator, HonestValidator, ValidatorSeat
from weighbeam.lab.validators.year import YEAR_EPOCHS, YearPlan, simulate_year
from weighbeam.mechanisms.chunking.groups import choose_group
from weighbeam.mechanisms.chunking.lab.tournament import Tournament
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.score import JudgedChunking, rank_answers
from weighbeam.mechanisms.chunking.stand import PlacedMiner, apply_round

VALIDATORS, MINERS = 64, 256
MOST_EPOCH_MS, LEAST_UPDATES, MOST_YEAR_SECONDS = 20, 10_000, 15
LAPS, WARM_ROUNDS, ROUNDS, SEASON_EPOCHS = 7, 80, 40, 60
PARAMS = ChunkingParams()
HOTKEYS = [f"miner-{number:03}" for number in range(MINERS)]


def measure_lab() -> Iterator[Line]:
    yield from measure_epochs()
    yield from measure_standings()
    yield from measure_weigh_ins()
    yield measure_season()


def measure_epochs() -> Iterator[Line]:
    subnet = make_subnet()
    dense = gather_subnet(subnet)
    assert dense is not None
    for name, yuma3, liquid in (("Yuma 3", True, False), ("Yuma 2", False, False), ("liquid alpha", True, True)):
        params = write_yuma(yuma3, liquid)
        assert run_epoch_dense(subnet, params) == run_epoch(subnet, params)
        own = _best(lambda params=params: run_epoch(subnet, params), 3) * 1e3
        rows = _best(lambda params=params: run_epoch_dense(subnet, params)) * 1e3
        arrays = _best(lambda params=params: run_dense(dense, params)) * 1e3
        shown = f"{arrays:.1f} ms, {rows:.1f} ms from sparse rows ({own / arrays:.0f}× and {own / rows:.0f}× as fast)"
        what = f"an exact epoch of {VALIDATORS} × {MINERS}, {name}, full rows"
        yield Line(what, shown, f"≤ {MOST_EPOCH_MS} ms", rows <= MOST_EPOCH_MS)


def write_yuma(yuma3: bool, liquid: bool) -> YumaParams:
    return YumaParams(32767, yuma3, liquid, 45875, 58982, 1000, 900_000, 65535, VALIDATORS, 360, 5000, 0, None)


def measure_standings() -> Iterator[Line]:
    chance = np.random.default_rng(0)
    many = Tournament(HOTKEYS, VALIDATORS, PARAMS)
    cold = time_once(lambda: _stand_many(many, 0, WARM_ROUNDS, chance), time.process_time)
    scores = dict(zip(HOTKEYS, many.scores[0].tolist(), strict=True))
    firsts = range(WARM_ROUNDS, WARM_ROUNDS + LAPS * ROUNDS, ROUNDS)
    laps = [time_once(lambda first=f: _stand_many(many, first, ROUNDS, chance), time.process_time) for f in firsts]
    own = [time_once(lambda: _stand_one(scores, ROUNDS, chance), time.process_time) for _ in range(LAPS)]
    rate, single = VALIDATORS * ROUNDS / min(laps), ROUNDS / min(own)
    shown = f"{rate:,.0f} a second, {rate / single:.0f}× the mechanism's own functions"
    what = f"updates of standings (choose 25 of {MINERS}, rank, stand), {VALIDATORS} validators at once"
    yield Line(what, shown, f"≥ {LEAST_UPDATES:,}", rate >= LEAST_UPDATES)
    rate = VALIDATORS * WARM_ROUNDS / cold
    yield Line(
        f"the first {WARM_ROUNDS} rounds of each, where nobody is ranked yet", f"{rate:,.0f} a second", "reported", True
    )


def measure_weigh_ins() -> Iterator[Line]:
    crowd = draw_crowd(MINERS, np.random.default_rng(1))
    years: dict[str, Callable[[], object]] = {
        "chunking": lambda: sum(1 for _ in weigh_chunking(crowd, PARAMS, 1)),
        "averaged emissions": lambda: sum(1 for _ in weigh_emissions(crowd, 1)),
    }
    for name, play in years.items():
        spent = _best(play, 2)
        what = f"one validator's year of {YEAR_EPOCHS:,} weigh-ins and 105,120 rounds, {MINERS} miners, {name}"
        yield Line(what, f"{spent:.1f} s", f"≤ {MOST_YEAR_SECONDS} s", spent <= MOST_YEAR_SECONDS)


def measure_season() -> Line:
    """Every kind of validator at work; a year is as many times the part that was played."""
    crowd = draw_crowd(MINERS, np.random.default_rng(1))
    minds = [HonestValidator()] * 56 + [CopyingValidator()] * 4 + [ColludingValidator((7, 8))] * 4
    validators = [ValidatorSeat(10**12, mind) for mind in minds]
    short, long = (
        time_once(lambda epochs=epochs: simulate_year(crowd, validators, 1, YearPlan(epochs=epochs)), time.process_time)
        for epochs in (SEASON_EPOCHS, 2 * SEASON_EPOCHS)
    )
    each = (long - short) / SEASON_EPOCHS
    shown = f"{each * 1e3:.0f} ms, so {each * YEAR_EPOCHS / 60:.1f} minutes a year"
    return Line(f"an epoch of {VALIDATORS} validators × {MINERS} miners, with all rounds", shown, "reported", True)


def make_subnet() -> YumaSubnet:
    chance = np.random.default_rng(0)
    count = VALIDATORS + MINERS

    def full(row: int) -> dict[int, int]:
        units = chance.integers(1, 65536, MINERS).tolist()
        return dict(zip(range(VALIDATORS, count), units, strict=True)) if row < VALIDATORS else {}

    return YumaSubnet(
        block=1000,
        stake=[*chance.integers(1, 10**12, VALIDATORS).tolist(), *([0] * MINERS)],
        weights=[full(row) for row in range(count)],
        permits=[row < VALIDATORS for row in range(count)],
        last_update=[999] * count,
        registered_at=[0] * count,
        bonds=[full(row) for row in range(count)],
        last_step_block=640,
        emission=10**9,
    )


def _stand_many(many: Tournament, first: int, rounds: int, chance: np.random.Generator) -> None:
    for number in range(first, first + rounds):
        drawn = many.choose([f"{number}/{row}" for row in range(VALIDATORS)])
        many.stand(drawn, chance.random(drawn.members.shape), np.zeros(drawn.members.shape, dtype=np.int8))


def _stand_one(scores: dict[str, float], rounds: int, chance: np.random.Generator) -> None:
    """The same by the mechanism's own functions."""
    held: dict[str, float | None] = dict(scores)
    for number in range(rounds):
        ranking = order_standings(held, number)
        group = choose_group(ranking, PARAMS.group_size, PARAMS.rank_values, number)
        results = [JudgedChunking("valid", reward) for reward in chance.random(len(group.members)).tolist()]
        places = rank_answers(results, PARAMS.ties).places
        placed = [PlacedMiner(hotkey, "valid", place) for hotkey, place in zip(group.members, places, strict=True)]
        held = apply_round(held, placed, group.base, PARAMS, group.index, group.count)


def _best(run: Callable[[], object], laps: int = LAPS) -> float:
    return min(time_once(run, time.process_time) for _ in range(laps))


if __name__ == "__main__":
    show_lines(measure_lab())
