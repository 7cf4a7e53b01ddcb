"""A clock that jumps by hours, either way: rounds and weigh-ins go on, nothing needed is removed, and it is told."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import recall
from engine.small_subnet import (
    ALICE,
    HOUR,
    START,
    Turned,
    count_taken,
    hear_log,
    list_faults,
    make_chain,
    make_runner,
    make_runtime,
    run_until,
    serve_miners,
)
from postgres import on_sqlite
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import WEIGHTS_INTERVAL_SECONDS, Averaging
from weighbeam.engine.running import runtime as running
from weighbeam.engine.running.retention import clean_up, is_cleanup_due
from weighbeam.engine.running.runtime import ValidatorRuntime, keep_rounds, seconds_to_next, weigh_once
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.network.nonces import NonceClock
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

AVERAGING = Averaging()
TEXTS = {"a": "tide moon", "b": "tide", "c": None}
JUMPS = [-7 * HOUR, 7 * HOUR, -60 * HOUR, 60 * HOUR]


@pytest.fixture(scope="module")
def miners(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with serve_miners(tmp_path_factory.mktemp("miners"), senses) as endpoints:
        yield endpoints


@pytest.fixture
def clock() -> Turned:
    return Turned()


@pytest.fixture
def file(tmp_path: Path, miners: dict[str, str]) -> ChainFile:
    return make_chain(tmp_path, miners)


@pytest.fixture
def runner(store: Store, file: ChainFile, senses: LocalSenses, clock: Turned) -> MechanismRunner:
    return make_runner(store, file, senses, clock)


@pytest.fixture
def runtime(runner: MechanismRunner, clock: Turned) -> ValidatorRuntime:
    made = make_runtime(runner.round_context.journal.store, clock)
    made.lock.take()
    return made


def test_rounds_go_on_at_once_whichever_way_it_jumps(
    runner: MechanismRunner, runtime: ValidatorRuntime, clock: Turned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "POLL_SECONDS", 0.01)
    pulse = runtime.health.add(runner.name)
    jumps = iter(JUMPS)

    def jump_after_each() -> bool:
        if pulse.rounds > played[0]:
            played[0] = pulse.rounds
            clock.at += next(jumps, 0.0)
        return pulse.rounds > len(JUMPS)

    played = [0]
    asyncio.run(run_until(keep_rounds(runtime, runner), jump_after_each))
    assert pulse.discarded == 0
    assert list_faults(runtime.store) == []


@pytest.mark.parametrize("jump", JUMPS)
def test_no_weigh_in_waits_longer_than_an_interval(
    runner: MechanismRunner, runtime: ValidatorRuntime, file: ChainFile, clock: Turned, jump: float
) -> None:
    asyncio.run(runner.play_round())
    asyncio.run(weigh_once(runtime, runner))
    assert 0 < seconds_to_next(runtime, runner) <= WEIGHTS_INTERVAL_SECONDS
    clock.at += jump
    advance(file, 6)
    jumped, weigh_ins = clock.at, runtime.health.pulses[runner.name].weigh_ins
    again = running.keep_weighing(runtime, runner)
    asyncio.run(run_until(again, lambda: runtime.health.pulses[runner.name].weigh_ins > weigh_ins))
    assert clock.at - jumped <= WEIGHTS_INTERVAL_SECONDS + 60
    assert count_taken(file) == 2
    assert 0 < seconds_to_next(runtime, runner) <= WEIGHTS_INTERVAL_SECONDS
    assert list_faults(runtime.store) == []


def test_skips_of_a_later_day_hold_nobody_up(runner: MechanismRunner, runtime: ValidatorRuntime, clock: Turned) -> None:
    """Nobody has earned anything, three times, before the clock is set right."""
    with hear_log():
        for _ in range(3):
            asyncio.run(weigh_once(runtime, runner))
            clock.at += 400
    clock.at -= 30 * HOUR
    assert seconds_to_next(runtime, runner) == 0


def test_evaluations_later_than_now_are_told(runner: MechanismRunner, runtime: ValidatorRuntime, clock: Turned) -> None:
    asyncio.run(runner.play_round())
    clock.at -= HOUR
    with hear_log() as lines:
        asyncio.run(weigh_once(runtime, runner))
    assert [alert.text for alert in list_alerts(runtime.store, limit=9).items if alert.code == "clock_skew"] == [
        "2 evaluations are dated in the future"
    ]
    assert any("clock_skew" in line and "remedy: set this machine's clock" in line for line in lines)


@pytest.fixture
def weigh_in_context(tmp_path: Path, store: Store) -> WeighInContext:
    """A mechanism paid by averages, with hourly rounds of sixty hours."""
    file = make_chain(tmp_path, dict.fromkeys(TEXTS, "127.0.0.1:8000"))
    journal, chain = Journal(store), LocalChain(file, ALICE)
    chain.file = file
    for hour in range(60):
        texts = {**TEXTS, "a": None if hour % 3 else "tide moon"}
        recall.play(journal, recall.PaidRecall(), hour, START + hour * HOUR, texts)
    return WeighInContext(
        recall.PaidRecall(), recall.PARAMS, journal, Ledger(store, "paid-recall"), chain, ALICE.address
    )


def clean(weigh_in_context: WeighInContext, now: float) -> None:
    clean_up(weigh_in_context.journal.store, now, AVERAGING, ALICE.address, ALICE.sign)


def find_oldest(weigh_in_context: WeighInContext) -> float:
    with weigh_in_context.journal.store.read() as connection:
        return float(connection.exec_driver_sql("SELECT MIN(at) FROM rounds").scalar_one())


def faults(weigh_in_context: WeighInContext) -> list[str]:
    return [
        f"{found.ref}: {found.fault}" for found in replay(weigh_in_context.journal.store, recall.find) if found.fault
    ]


@on_sqlite
@pytest.mark.parametrize("jump", [-1000 * HOUR, -30 * HOUR, 0.0, 30 * HOUR, 1000 * HOUR])
def test_retention_leaves_the_lookback_of_the_newest_round(weigh_in_context: WeighInContext, jump: float) -> None:
    now = START + 60 * HOUR + jump
    clean(weigh_in_context, now)
    assert find_oldest(weigh_in_context) <= START + (59 - AVERAGING.ema_lookback_hours) * HOUR
    assert is_cleanup_due(weigh_in_context.journal.store, now - HOUR, AVERAGING)
    assert faults(weigh_in_context) == []


@on_sqlite
@pytest.mark.parametrize("back", [0.0, 10 * HOUR, 40 * HOUR, 59 * HOUR])
def test_a_weigh_in_after_a_clean_up_and_a_jump_back_replays(weigh_in_context: WeighInContext, back: float) -> None:
    now = START + 60 * HOUR
    clean(weigh_in_context, now)
    advance(weigh_in_context.chain.file, 6)
    done = asyncio.run(weigh_in(weigh_in_context, now - back))
    assert done.submission is not None or done.decision.reason == "all_zero"
    assert faults(weigh_in_context) == []
    recall.play(weigh_in_context.journal, recall.PaidRecall(), 200, now + 100 * HOUR, TEXTS)
    clean(weigh_in_context, now + 60 * HOUR)
    assert faults(weigh_in_context) == []


def test_an_emergency_after_a_clean_up_replays(weigh_in_context: WeighInContext) -> None:
    """It looks at everything retained: live and in replay that must be the same."""
    clean(weigh_in_context, START + 60 * HOUR)
    advance(weigh_in_context.chain.file, 260)
    done = asyncio.run(weigh_in(weigh_in_context, START + 61 * HOUR))
    assert (done.mode.mode, done.decision.action) == ("EMERGENCY", "submit")
    assert faults(weigh_in_context) == []


def test_requests_are_signed_with_the_present_again_after_the_clock_is_set_right() -> None:
    """Miners accept two seconds ahead; a clock that ran hours ahead must not speak for the process ever after."""
    now = [10**18]
    nonces = NonceClock(now=lambda: now[0])
    first = int(nonces.next())
    now[0] -= 5 * 3600 * 10**9
    second = int(nonces.next())
    assert (first, second) == (10**18, now[0])
    assert int(nonces.next()) == second + 1
