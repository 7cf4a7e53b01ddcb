"""The capacity model: arithmetic that can be checked by hand, over units that were measured."""

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from weighbeam.cli.main import app
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.capacity.plan import CapacityLoad, plan
from weighbeam.lab.capacity.units import CapacityUnits, RoundCost, load_units

UNITS = CapacityUnits(
    machine="made",
    rounds={"chunking": RoundCost(25, 7.0, 0.010, 0.020, 1e6)},
    worker_share=0.5,
    server_rows_per_second=1e6,
    server_rows_together_per_second=4e6,
    server_row_bytes=1 << 10,
    memory_rows_per_second=1e7,
    memory_row_bytes=1 << 9,
    insert_seconds=0.001,
    epoch_seconds_per_pair=1e-6,
)
LOAD = CapacityLoad(
    rounds_per_hour=3600.0,
    vectors=1 << 20,
    submissions_per_hour=3600.0,
    scan_cores=2,
    validators=10,
    miners=100,
)


def test_the_numbers_are_those_of_the_arithmetic() -> None:
    found = [need.amount for need in plan(LOAD, UNITS)]
    assert found == [
        "20 cores",
        "5 processes",
        "3% busy",
        "161 GiB",
        "1 GiB",
        "0.5 s",
        "2 cores",
        "1 cores",
        "0 GiB of memory",
        "0.1% busy",
        "1 ms",
        "900 an hour",
        "2.5 a second",
    ]
    assert all(need.borne for need in plan(LOAD, UNITS))


def test_what_one_does_not_bear_is_said() -> None:
    needs = plan(replace(LOAD, rounds_per_hour=100_000.0), UNITS)
    assert [need.what for need in needs if not need.borne] == ["the store's one writer"]


@given(st.floats(1, 1e7), st.floats(1.1, 10))
def test_more_never_needs_less(rounds: float, factor: float) -> None:
    few, many = (plan(replace(LOAD, rounds_per_hour=one), UNITS)[0] for one in (rounds, rounds * factor))
    assert _number(few.amount) <= _number(many.amount)


def _number(amount: str) -> int:
    return int(amount.split()[0].replace(",", ""))


def test_the_units_that_were_measured_can_be_read_and_planned_with() -> None:
    units = load_units()
    assert set(units.rounds) == {"chunking", "inference", "evidence"}
    done = CliRunner().invoke(app, ["lab", "capacity", "--mechanism", "evidence", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["load"]["rounds_per_hour"] == 10_000
    assert len(told["needs"]) == 13
    shown = CliRunner().invoke(app, ["lab", "capacity"])
    assert "Units measured on" in shown.stdout


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rounds": 1}', '{"rounds": {"a": {"answers": 1}}}'])
def test_what_are_no_units_is_refused(text: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_units"):
        load_units(text)


def test_units_of_nothing_are_refused() -> None:
    kept = {**asdict(UNITS), "insert_seconds": 0}
    with pytest.raises(WeighbeamError, match="insert_seconds is 0"):
        load_units(json.dumps(kept))


def test_a_mechanism_that_was_not_measured_is_named() -> None:
    done = CliRunner().invoke(app, ["lab", "capacity", "--mechanism", "novelty"])
    assert done.exit_code != 0
