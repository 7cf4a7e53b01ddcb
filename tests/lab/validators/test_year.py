"""Seasons of many validators: the exact epoch in them, what a seed fixes, and what each kind of validator earns."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from benchmarks.sparse_epoch import spread_epoch
from benchmarks.weigh_ins import answer_all, weigh_chunking, weigh_emissions

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.yuma.epoch import run_epoch
from weighbeam.lab.simulate.measure import is_found_out
from weighbeam.lab.validators import colluding_validators, weight_copying
from weighbeam.lab.validators.chain import LabChain
from weighbeam.lab.validators.crowd import Crowd, answer, draw_crowd
from weighbeam.lab.validators.fairness import earn_per_stake, measure_fairness
from weighbeam.lab.validators.strategies import (
    ColludingValidator,
    CopyingValidator,
    HonestValidator,
    ValidatorSeat,
    scale_units,
)
from weighbeam.lab.validators.year import Year, YearPlan, simulate_year
from weighbeam.mechanisms.chunking.params import ChunkingParams

STAKE = 10**12


def let_copy(crowd: Crowd, copiers: np.ndarray, sources: np.ndarray) -> Crowd:
    """Some give another's answer, and are then as good as that."""
    source = crowd.source.copy()
    source[copiers] = sources
    return replace(crowd, source=source)


def play(validators: list[ValidatorSeat], epochs: int = 60, miners: int = 40, **plan) -> Year:
    crowd = draw_crowd(miners, np.random.default_rng(3))
    return simulate_year(crowd, validators, 3, YearPlan(epochs=epochs, **plan), keep_rows=True)


def test_a_seed_fixes_the_season_and_another_seed_another() -> None:
    crowd = draw_crowd(30, np.random.default_rng(0))
    validators = [
        ValidatorSeat(STAKE, HonestValidator()),
        ValidatorSeat(STAKE, CopyingValidator()),
        ValidatorSeat(STAKE, ColludingValidator((1,))),
    ]
    plan = YearPlan(epochs=12, replaced_per_day=10.0, rules=SubnetParameters(immunity_period=720))
    one, again, other = (simulate_year(crowd, validators, seed, plan, keep_rows=True) for seed in (1, 1, 2))
    for name, values in asdict(one).items():
        np.testing.assert_array_equal(values, getattr(again, name))
    assert (one.incentive != other.incentive).any()


@pytest.mark.parametrize("reveal", [0, 2])
def test_every_epoch_is_the_exact_one(reveal: int) -> None:
    """Rows of chance, newcomers, commit-reveal: what the lab's chain decides is what the sparse epoch decides."""
    chance = np.random.default_rng(reveal)
    rules = SubnetParameters(yuma3=True, commit_reveal=reveal > 0, reveal_period=max(1, reveal))
    chain = LabChain([int(s) for s in chance.integers(1, STAKE, 5)], 12, rules)
    for _ in range(12):
        chain.submit(scale_units(chance.random((5, 12)) * (chance.random((5, 1)) < 0.8)))
        expected = run_epoch(chain.read().as_subnet(), chain.params)
        assert asdict(spread_epoch(chain.step())) == asdict(expected)
        chain.replace(chance.permutation(12)[:1])


def test_honest_validators_pay_the_skilled() -> None:
    year = play([ValidatorSeat(STAKE, HonestValidator()) for _ in range(8)], epochs=80)
    days = measure_fairness(year)
    assert len(days) == 4
    assert days[-1].tau is not None
    assert days[-1].tau > 0.6
    assert 0 < days[-1].gini < 1
    assert days[-1].top > 0.9
    assert earn_per_stake(year, [STAKE] * 8).sum() == pytest.approx(8)


def test_rows_behind_commit_reveal_pay_later() -> None:
    validators = [ValidatorSeat(STAKE, HonestValidator()) for _ in range(4)]
    open_, hidden = (
        play(validators, 8, rules=SubnetParameters(commit_reveal=reveal, reveal_period=3)) for reveal in (False, True)
    )
    assert open_.incentive[0].any()
    assert not hidden.incentive[:3].any()
    np.testing.assert_array_equal(hidden.incentive[3], open_.incentive[0])


def test_newcomers_push_out_the_worst_paid_once_these_are_mortal() -> None:
    year = play([ValidatorSeat(STAKE, HonestValidator()) for _ in range(4)], 60, replaced_per_day=20.0)
    replaced = np.abs(np.diff(year.skill, axis=0)) > 0.25
    assert not replaced[:10].any()
    assert replaced[10:].sum() > 10
    assert (year.incentive[:-1][replaced] == 0).mean() > 0.9


def test_a_copy_is_as_good_as_its_source_and_shares_its_place() -> None:
    chance = np.random.default_rng(4)
    crowd = let_copy(draw_crowd(9, chance), np.array([1, 2, 6]), np.array([0, 0, 5]))
    members = np.tile(np.arange(9), (200, 1))
    for got in (answer(crowd, crowd.skill, members, chance), answer_all(crowd, crowd.skill, 200, chance)):
        same = got.rewards[:, 0] == got.rewards[:, 1]
        assert same.mean() > 0.7, "apart only where one of them was late"
        assert (got.rewards[:, 5] == got.rewards[:, 6]).mean() > 0.7
        assert not (got.rewards[:, 3] == got.rewards[:, 4]).any()


def test_a_newcomer_takes_no_source_along() -> None:
    chance = np.random.default_rng(4)
    crowd = let_copy(draw_crowd(6, chance), np.array([1, 2]), np.array([0, 5]))
    renewed = crowd.renew(np.array([0, 2]), chance)
    assert renewed.source.tolist() == [0, 1, 2, 3, 4, 5]
    assert (renewed.skill != crowd.skill).tolist() == [True, False, True, False, False, False]


def test_one_validator_s_weigh_ins_pay_the_skilled() -> None:
    crowd = draw_crowd(50, np.random.default_rng(8))
    for weigh_ins in (list(weigh_chunking(crowd, ChunkingParams(), 1, 3.0)), list(weigh_emissions(crowd, 1, 3.0))):
        assert len(weigh_ins) == 60
        assert [w.at for w in weigh_ins] == [4320.0 * n for n in range(1, 61)]
        assert weigh_ins[-1].rounds == 865
        last = weigh_ins[-1].rows
        assert last.shares.sum() == pytest.approx(1)
        best = np.argsort(-last.shares[0])[:5]
        assert crowd.skill[best].mean() > 0.8


@pytest.mark.slow
def test_copiers_are_seen_and_earn_more_where_rows_are_public() -> None:
    public, hidden = weight_copying.run(1), weight_copying.run_hidden(1)
    for trial in (public, hidden):
        assert all(len(trial.signs[name]) > 100 for name in trial.attackers)
        assert not any(is_found_out(trial.signs[name]) for name in trial.honest)
    for name in public.attackers:
        assert 1.08 < public.earned[name] < 1.3
        assert hidden.earned[name] < public.earned[name]


@pytest.mark.slow
def test_colluders_below_kappa_lose_and_above_it_pay_their_miners() -> None:
    below, above = colluding_validators.run(1), colluding_validators.run_favoured_majority(1)
    assert max(below.earned[name] for name in below.attackers) < 0.95
    assert all(is_found_out(below.signs[name]) for name in below.attackers)
    assert not any(is_found_out(below.signs[name]) for name in below.honest)
    assert sum(below.earned.values()) == pytest.approx(16, rel=0.01)
    assert min(above.earned[name] for name in above.attackers) > 5
    assert not any(above.signs[name] for name in above.attackers)
