"""Averages from the journal: continued or folded anew, the bits are the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert

from engine.recall import PaidRecall
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.projections import insert_evaluations, list_evaluations
from weighbeam.engine.rules.averages import Evaluation, fold_emissions
from weighbeam.engine.rules.constants import Averaging, find_ignored
from weighbeam.engine.weights.emissions import select_averages, update_folds
from weighbeam.mechanism.records import Score, Scored
from weighbeam.store import tables
from weighbeam.store.database import Store

AVERAGING = Averaging(ema_lookback_hours=1.0, db_retention_hours=2.0)
emission = st.floats(0, 1e6, allow_nan=False)
steps = st.lists(st.tuples(st.integers(-900, 1800), emission, st.booleans()), min_size=1, max_size=30)


@settings(max_examples=60)
@given(steps=steps)
def test_incremental_is_recomputed_to_the_bit(shared_store: Store, steps) -> None:
    """Rounds come in and out of order, weigh-ins happen in between, the window moves."""
    now, known = 100_000.0, []
    with shared_store.write() as connection:
        connection.execute(delete(tables.evaluations))
        connection.execute(delete(tables.folds))
        for number, (step, value, weigh) in enumerate(steps):
            at = now + step
            now = max(now, at)
            row = {
                "mechanism": "m",
                "hotkey": "a",
                "round": f"r{number:03}",
                "at": at,
                "emission": value,
                "success": True,
            }
            insert_evaluations(connection, [row])
            known.append(Evaluation(at, f"r{number:03}", value))
            if weigh:
                averages = select_averages(connection, "m", ["a"], now, AVERAGING, True)
                assert averages["a"] == fold_emissions(known, now, 0.3, 1.0)
                update_folds(connection, "m", averages, now, AVERAGING)
        whole = select_averages(connection, "m", ["a"], now, AVERAGING, False)
        assert whole["a"] == fold_emissions(known, now, 0.3, AVERAGING.db_retention_hours)


def test_rows_later_than_now_are_counted_and_left_out(store_url: str) -> None:
    store = Store(store_url)
    with store.write() as connection:
        rows = [
            {"mechanism": "m", "hotkey": "a", "round": f"r{i}", "at": 100.0 + i, "emission": 1.0, "success": True}
            for i in range(4)
        ]
        connection.execute(insert(tables.evaluations), rows)
        update_folds(connection, "m", select_averages(connection, "m", ["a"], 101.0, AVERAGING, True), 101.0, AVERAGING)
        again = select_averages(connection, "m", ["a"], 101.5, AVERAGING, True)["a"]
    assert (again.count, again.future) == (2, 2)


def test_a_changed_alpha_is_never_mixed_into_an_old_fold(store_url: str) -> None:
    store = Store(store_url)
    other = Averaging(ema_alpha=0.5, ema_lookback_hours=1.0, db_retention_hours=2.0)
    with store.write() as connection:
        row = {"mechanism": "m", "hotkey": "a", "round": "r", "at": 100.0, "emission": 1.0, "success": True}
        connection.execute(insert(tables.evaluations), [row])
        update_folds(connection, "m", select_averages(connection, "m", ["a"], 101.0, AVERAGING, True), 101.0, AVERAGING)
        assert select_averages(connection, "m", ["a"], 101.0, other, True)["a"].ema == 0.5


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), True, "1"])
def test_a_bad_emission_never_enters_the_journal(bad: object) -> None:
    scored = Scored((Score("a", "valid", 1.0),), {"emissions": {"a": bad}})
    with pytest.raises(WeighbeamError, match="bad_emission"):
        list_evaluations(PaidRecall(), "r", 1.0, scored)


@pytest.mark.parametrize(
    "given",
    [
        {"ema_alpha": 0},
        {"ema_alpha": 1.1},
        {"ema_lookback_hours": 0},
        {"db_retention_hours": 47.9},
        {"db_cleanup_interval_hours": 0},
        {"ema_alpha": float("nan")},
    ],
)
def test_each_of_the_four_settings_has_its_rule(given: dict[str, float]) -> None:
    (name,) = given
    with pytest.raises(WeighbeamError, match=rf"bad_setting: WEIGHBEAM_{name.upper()}.*rule"):
        Averaging(**given)


def test_constants_in_the_environment_are_found() -> None:
    assert find_ignored({"WEIGHBEAM_EMA_ALPHA": "1", "WEIGHT_FRESHNESS_HOURS": "9"}) == ["WEIGHT_FRESHNESS_HOURS"]
