"""The epoch over arrays against the epoch one by one: every field equal, whatever the subnet."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.sparse_epoch import gather_subnet, run_epoch_dense, spread_epoch
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.chain.stages import STAGES
from weighbeam.core.yuma import fixed, fixed_arrays
from weighbeam.core.yuma.dense import run_dense
from weighbeam.core.yuma.epoch import YumaParams, YumaSubnet, run_epoch
from weighbeam.core.yuma.fixed import ONE

U64 = 2**64 - 1
units = st.sampled_from([0, 0, 1, 2, 32767, 65534, 65535]) | st.integers(0, 65535)
shares = st.sampled_from([0, 1, 45875, 65534, 65535]) | st.integers(0, 65535)
VECTORS = json.loads((Path(__file__).parents[3] / "vectors/chain.yuma.json").read_text())["cases"]
CASES = [case for case in VECTORS if "error" not in case["expect"]]
"""The others are refused before there is an epoch."""


def draw_params(draw, count: int) -> YumaParams:
    low, high = sorted((draw(shares), draw(shares)))
    return YumaParams(
        kappa=draw(shares),
        yuma3=draw(st.booleans()),
        liquid_alpha=draw(st.booleans()),
        alpha_low=low,
        alpha_high=high,
        alpha_steepness=draw(st.sampled_from([0, 1, 200, -200, 1000, 32767, -32768]) | st.integers(-5000, 5000)),
        bonds_moving_average=draw(st.sampled_from([0, 900_000, 975_000, 1_000_000]) | st.integers(0, 1_000_000)),
        bonds_penalty=draw(shares),
        max_validators=draw(st.integers(0, count + 2)),
        tempo=draw(st.integers(0, 50)),
        activity_cutoff=draw(st.integers(0, 120)),
        stake_threshold=draw(st.sampled_from([0, 0, 5, 10**9])),
        owner_uid=draw(st.none() | st.integers(0, count - 1)),
    )


@st.composite
def subnets(draw) -> tuple[YumaSubnet, YumaParams]:
    count = draw(st.integers(1, 9))

    def each(values):
        return draw(st.lists(values, min_size=count, max_size=count))

    row = st.dictionaries(st.integers(0, count + 1), units, max_size=count + 2)
    stake = st.sampled_from([0, 0, 1, 7, 10**9, 10**12, U64]) | st.integers(0, 10**15)
    subnet = YumaSubnet(
        block=draw(st.integers(0, 200)),
        stake=each(stake),
        weights=each(row | st.just({})),
        permits=each(st.booleans()),
        last_update=each(st.integers(0, 200)),
        registered_at=each(st.just(0) | st.integers(0, 200)),
        bonds=each(row | st.just({})),
        last_step_block=draw(st.none() | st.integers(0, 200)),
        emission=draw(st.sampled_from([0, 10**9, U64])),
        commit_blocks=draw(st.none() | st.just([None] * count)) or each(st.none() | st.integers(0, 200)),
    )
    return subnet, draw_params(draw, count)


@settings(max_examples=100, deadline=None)
@given(subnets())
def test_any_subnet_gets_the_same_epoch(given_subnet: tuple[YumaSubnet, YumaParams]) -> None:
    subnet, params = given_subnet
    assert asdict(run_epoch_dense(subnet, params)) == asdict(run_epoch(subnet, params))


def make_subnet(chance: np.random.Generator) -> tuple[YumaSubnet, YumaParams]:
    """Larger than hypothesis likes to draw, and as odd."""
    count = int(chance.integers(2, 20))

    def row(full: float) -> dict[int, int]:
        held = np.flatnonzero(chance.random(count + 1) < full)
        return {int(j): int(chance.choice([0, 1, 65535, chance.integers(65536)])) for j in held}

    def some(values: list[int]) -> list[int]:
        return [int(value) for value in chance.choice(values, count)]

    full = chance.choice([0.2, 0.9, 1.0])
    subnet = YumaSubnet(
        block=100,
        stake=some([0, 1, 10**9, 10**9, 3 * 10**12]),
        weights=[row(full) if chance.random() < 0.8 else {} for _ in range(count)],
        permits=[bool(flag) for flag in chance.random(count) < 0.8],
        last_update=some([0, 50, 99, 99, 99]),
        registered_at=some([0, 0, 0, 60, 95, 99]),
        bonds=[row(full) if chance.random() < 0.8 else {} for _ in range(count)],
        last_step_block=chance.choice([None, 0, 90]),
        emission=10**9,
    )
    owner = int(chance.integers(count)) if chance.random() < 0.3 else None
    kappa, penalty = (int(chance.choice([0, 32767, 65535, chance.integers(65536)])) for _ in range(2))
    flags = (bool(flag) for flag in chance.random(2) < 0.5)
    return subnet, YumaParams(kappa, *flags, 45875, 58982, 1000, 900_000, penalty, count // 2, 10, 60, 5, owner)


@pytest.mark.parametrize("seed", range(400))
def test_a_made_subnet_gets_the_same_epoch(seed: int) -> None:
    subnet, params = make_subnet(np.random.default_rng(seed))
    assert run_epoch_dense(subnet, params) == run_epoch(subnet, params)


@settings(max_examples=30, deadline=None)
@given(
    subnets(),
    st.sampled_from(
        [
            {"kappa": U64},
            {"bonds_penalty": 65536},
            {"bonds_moving_average": 1_000_001},
            {"alpha_low": 65535, "alpha_high": 0},
            {"activity_cutoff": U64},
            {"tempo": U64},
        ]
    ),
)
def test_numbers_beyond_64_bits_are_left_to_the_exact_epoch(
    given_subnet: tuple[YumaSubnet, YumaParams], beyond: dict[str, int]
) -> None:
    subnet, params = given_subnet[0], replace(given_subnet[1], **beyond)
    assert asdict(run_epoch_dense(subnet, params)) == asdict(run_epoch(subnet, params))
    dense = gather_subnet(subnet)
    assert dense is not None
    inside = dense.as_subnet()
    assert asdict(spread_epoch(run_dense(dense, params))) == asdict(run_epoch(inside, params))


@pytest.mark.parametrize("late", [{"weights": [{0: 65536}]}, {"last_update": [U64]}, {"registered_at": [U64]}])
def test_a_subnet_that_no_array_holds_gets_its_epoch_all_the_same(late: dict[str, list[object]]) -> None:
    params = YumaParams(32767, True, False, 0, 65535, 0, 900_000, 65535, 1, 360, 5000, 0, 0)
    subnet = replace(YumaSubnet(10, [5], [{0: 1}], [True], [9], [0], [{0: 3}]), **late)
    assert gather_subnet(subnet) is None
    assert run_epoch_dense(subnet, params) == run_epoch(subnet, params)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("yuma3", [True, False])
def test_bonds_that_stay_arrays_are_those_that_went_through_rows(yuma3: bool, seed: int) -> None:
    """Many epochs on end, with neurons replaced and permits lost: where a difference of one unit would grow."""
    chance = np.random.default_rng(seed)
    count, voters = 24, 10
    params = YumaParams(32767, yuma3, seed % 3 == 0, 45875, 58982, 1000, 900_000, 65535, 8, 10, 500, 0, None)
    stake = [int(s) for s in chance.integers(1, 10**12, voters)] + [0] * (count - voters)
    registered, bonds = np.zeros(count, dtype=np.int64), [{} for _ in range(count)]
    permits = [i < voters for i in range(count)]
    dense = None
    for block in range(10, 210, 10):
        registered[chance.integers(count)] = block - 5
        rows = [
            {j: int(w) for j, w in enumerate(chance.integers(0, 65536, count)) if chance.random() < 0.7 and i < voters}
            for i in range(count)
        ]
        updated = [block - 1 if chance.random() < 0.9 else 0 for _ in range(count)]
        subnet = YumaSubnet(block, stake, rows, permits, updated, registered.tolist(), bonds, block - 10, 10**9)
        expected = run_epoch(subnet, params)
        fresh = gather_subnet(replace(subnet, bonds=[{0: 1}] * count))
        assert fresh is not None
        before = (np.zeros_like(fresh.bonds), np.zeros_like(fresh.bonded)) if dense is None else dense
        epoch = run_dense(replace(fresh, bonds=before[0], bonded=before[1]), params)
        assert asdict(spread_epoch(epoch)) == asdict(expected)
        dense, bonds, permits = (epoch.bonds, epoch.bonded), expected.bonds, expected.permits
        stake = [stake[-1], *stake[:-1]] if chance.random() < 0.2 else stake


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_chain_s_own_epochs_come_out(case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.chain.stages.run_epoch", run_epoch_dense)
    actual = STAGES["chain.yuma"](case["input"])
    assert {name: actual[name] for name in case["expect"]} == case["expect"]


share = st.sampled_from([0, 1, ONE - 1, ONE]) | st.integers(0, ONE)


@given(st.lists(st.tuples(share, share, st.integers(0, 100 * ONE)), min_size=1))
def test_products_and_quotients_are_those_of_the_single_numbers(rows: list[tuple[int, int, int]]) -> None:
    one, other, more = (np.array(column, dtype=np.uint64) for column in zip(*rows, strict=True))
    products = fixed_arrays.multiply_shares(one, other).tolist()
    assert products == [fixed.multiply(a, b) for a, b, _ in rows]
    quotients = fixed_arrays.divide_shares(one, one + more).tolist()
    assert quotients == [fixed.divide(a, a + c) for a, _, c in rows]


@given(st.lists(st.sampled_from([0, ONE, -ONE, 20 * ONE, -20 * ONE]) | st.integers(-30 * ONE, 30 * ONE), min_size=1))
def test_exponentials_are_those_of_the_single_numbers(values: list[int]) -> None:
    assert fixed_arrays.exponentials(np.array(values)).tolist() == [fixed.exponential(value) for value in values]


@given(st.integers(-400 * ONE, 400 * ONE), st.lists(st.integers(-ONE // 2, ONE // 2), min_size=1))
def test_signed_products_are_floored(number: int, others: list[int]) -> None:
    products = fixed_arrays.multiply_signed(number, np.array(others)).tolist()
    assert products == [fixed.multiply(number, other) for other in others]
