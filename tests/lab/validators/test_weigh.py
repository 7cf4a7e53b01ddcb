"""Weigh-ins of many validators at once are what the engine decides for each of them."""

import numpy as np
from benchmarks.averages import Averages
from benchmarks.weigh_ins import note_rounds, weigh_averages
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.engine.rules.averages import Evaluation, fold_emissions
from weighbeam.engine.rules.constants import WeighInLimits
from weighbeam.engine.rules.decision import decide_weights
from weighbeam.engine.rules.last_seen import LastSeen, note_round
from weighbeam.engine.rules.weighing import list_payees
from weighbeam.lab.validators.weight_rows import LastAsked, WeightRows
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Score, Scored, Standing
from weighbeam.mechanisms.chunking.lab.tournament import weigh_standings
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams

NOW, HOURS = 100_000.1, 3.0
LIMITS = WeighInLimits(freshness_hours=HOURS)
EDGE = NOW - HOURS * 3600
times = st.sampled_from([EDGE, np.nextafter(EDGE, 0), np.nextafter(EDGE, 1e9), NOW]) | st.floats(EDGE - 9000, NOW)
seen = st.none() | st.tuples(times, st.none() | times)


def decide(mechanism: Mechanism, params: Params, standings: list[float | None], sights: list, rows: WeightRows) -> None:
    """The engine's own decision against the first row."""
    names = [f"m{i}" for i in range(len(standings))]
    uids = {name: i for i, name in enumerate(names)}
    known = {name: LastSeen(*sight) for name, sight in zip(names, sights, strict=True) if sight is not None}
    held = [Standing(name, value) for name, value in zip(names, standings, strict=True)]
    payees = list_payees(mechanism, params, uids, held, known, NOW, HOURS)
    decision = decide_weights(payees, NOW, "NORMAL", 360, 100, LIMITS)
    assert (decision.action == "submit") == rows.paid[0]
    if decision.action == "submit":
        assert [decision.weights[name] for name in names] == rows.shares[0].tolist()
    filled = np.zeros(len(names), dtype=np.int64)
    filled[list(decision.uids)] = decision.values
    assert filled.tolist() == rows.units[0].tolist()


def look(sights: list) -> LastAsked:
    sight = LastAsked.blank(1, len(sights))
    for column, times in enumerate(sights):
        if times is not None:
            sight.asked_at[0, column] = times[0]
            sight.success_at[0, column] = np.nan if times[1] is None else times[1]
    return sight


standing = st.none() | st.sampled_from([0.0, 1.0, 1.0, 7.25, -1.0]) | st.floats(0, 300)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(standing, seen), min_size=1, max_size=30), st.sampled_from([0.5, 0.9, 0.3]))
def test_standings_are_weighed_as_the_engine_weighs_them(miners: list, curve: float) -> None:
    scores, sights = zip(*miners, strict=True)
    row = np.array([[np.nan if score is None else score for score in scores]])
    rows = weigh_standings(row, look(list(sights)), NOW, curve, HOURS)
    decide(Chunking(), ChunkingParams(curve=curve), list(scores), list(sights), rows)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 50), seen), min_size=1, max_size=30))
def test_averages_are_weighed_as_the_engine_weighs_them(miners: list) -> None:
    averages, sights = zip(*miners, strict=True)
    rows = weigh_averages(np.array([averages]), look(list(sights)), NOW, HOURS)
    decide(Inference(), InferenceParams(), list(averages), list(sights), rows)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.3, 0.05, 1.0]),
    st.sampled_from([1.0, 24.0]),
    st.sampled_from(["zero", "first"]),
)
def test_folds_are_those_of_the_engine(seed: int, alpha: float, hours: float, start: str) -> None:
    chance = np.random.default_rng(seed)
    averages = Averages(2, 5, alpha, hours, start)
    told: list[list[list[Evaluation]]] = [[[] for _ in range(5)] for _ in range(2)]
    at = 0.0
    for number in range(90):
        at += float(chance.choice([300.0, 300.0, 1800.0]))
        members = np.array([chance.permutation(5)[:2] for _ in range(2)])
        emissions = chance.random((2, 2)) * chance.integers(0, 2, (2, 2))
        averages.add(np.arange(2)[:, None], members, at, emissions)
        for row, column in np.ndindex(2, 2):
            told[row][members[row, column]].append(Evaluation(at, f"{number:03}", float(emissions[row, column])))
        if number % 9 == 0:
            now = at + float(chance.choice([0.0, 100.0]))
            folds = [[fold_emissions(rows, now, alpha, hours, start) for rows in miners] for miners in told]
            assert averages.fold(now).tolist() == [[fold.ema for fold in row] for row in folds]
            assert averages.count(now).tolist() == [[fold.count for fold in row] for row in folds]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 2**32))
def test_rounds_noted_at_once_are_those_noted_one_by_one(statuses: list[list[int]], seed: int) -> None:
    chance = np.random.default_rng(seed)
    told = np.array(statuses, dtype=np.int8)
    members = np.array([chance.permutation(5)[:3] for _ in statuses])
    at = np.arange(len(statuses)) * 300.0
    whole, single = LastAsked.blank(1, 5), LastAsked.blank(1, 5)
    note_rounds(whole, members, at, told)
    known: dict[str, LastSeen] = {}
    for columns, time, row in zip(members, at.tolist(), told, strict=True):
        single.note(np.zeros((1, 1), dtype=np.intp), columns[None], time, row[None])
        names = [("valid", "failed", "unscored")[status] for status in row]
        scores = [Score(str(column), name, None) for column, name in zip(columns, names, strict=True)]
        known = note_round(known, (), time, Scored(tuple(scores), {}))
    for sight in (whole, single):
        for column in range(5):
            seen = known.get(str(column), LastSeen(np.nan, None))
            expected = [seen.asked_at, np.nan if seen.success_at is None else seen.success_at]
            np.testing.assert_array_equal([sight.asked_at[0, column], sight.success_at[0, column]], expected)
