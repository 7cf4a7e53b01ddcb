"""What a journal holds of other times costs nothing: work is counted in steps of the database, not in seconds."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import insert

from engine.recall import PaidRecall, find, play
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.rules.averages import Evaluation, fold_emissions
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.weights.emissions import count_later
from weighbeam.store import tables
from weighbeam.store.database import Store

OTHERS, HOTKEYS = 20_000, ("ada", "ben")
EVERY = 10


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    for number in range(3):
        play(journal, PaidRecall(), number, 1e6 + number, dict.fromkeys(HOTKEYS, "tide moon"))
    return journal


def grow_old(store: Store, mechanism: str) -> None:
    rows = [
        {
            "mechanism": mechanism,
            "hotkey": f"miner-{number % 50}",
            "round": f"other-{number // 50}",
            "at": float(number),
            "emission": 0.5,
            "success": True,
        }
        for number in range(OTHERS)
    ]
    with store.write() as connection:
        connection.execute(insert(tables.evaluations), rows)


def count_steps(store: Store, work: Callable[[], object]) -> int:
    """How many steps, by tens, the database makes for it."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with store.read() as connection:
        raw = connection.connection.driver_connection
        raw.set_progress_handler(step, EVERY)
    work()
    raw.set_progress_handler(None, EVERY)
    assert steps, "it went through another connection"
    return steps


def test_evaluations_of_the_future_are_counted_without_those_of_the_past(journal: Journal) -> None:
    def count() -> int:
        with journal.store.read() as connection:
            return count_later(connection, "paid-recall", 1e6 + 1.5)

    young = count_steps(journal.store, count)
    grow_old(journal.store, "paid-recall")
    assert count() == len(HOTKEYS)
    assert count_steps(journal.store, count) <= young + 2


def test_a_round_is_computed_again_without_a_look_at_the_evaluations_of_others(journal: Journal) -> None:
    def compute() -> list[str | None]:
        return [one.fault for one in replay(journal.store, find)]

    young = count_steps(journal.store, compute)
    grow_old(journal.store, "another")
    assert compute() == [None] * 4
    assert count_steps(journal.store, compute) <= young * 1.1 + 2


@pytest.mark.parametrize("lookback", [True, False])
def test_averages_of_a_replay_are_those_of_all_that_was_paid(lookback: bool) -> None:
    """Also after a clock that went back and forth."""
    random, averaging = Random(11), Averaging()
    paid = [Evaluation(random.uniform(0, 4e5), f"round-{number}", random.random()) for number in range(400)]
    reached = ReplayState()
    for one in paid:
        reached = take_in(reached, one)
    hours = averaging.ema_lookback_hours if lookback else averaging.db_retention_hours
    for now in (0.0, 1e5, 2.5e5, 4e5):
        (standing,) = reached.stand(PaidRecall(), ["ada"], now, averaging, lookback)
        whole = fold_emissions(paid, now, averaging.ema_alpha, hours)
        assert (standing.value, standing.detail["count"]) == (whole.ema, whole.count)


def take_in(reached: ReplayState, one: Evaluation) -> ReplayState:
    """Through what a checkpoint keeps, which must not change anything either."""
    kept = reached.as_json()
    return ReplayState.from_json({**kept, "emissions": [*kept["emissions"], ["ada", one.at, one.round, one.emission]]})
