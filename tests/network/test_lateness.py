"""How late our own machine is: measured in a real event loop, judged by a pure rule."""

import asyncio
import os
import resource
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.network.ask import MinerReply
from weighbeam.network.blame import DOUBTFUL, MAX_STALLED_SHARE, Lateness, blame_late, count_late
from weighbeam.network.probe import PROBE_SECONDS, LateWatch

SECONDS = st.floats(0, 300, allow_nan=False)
DEADLINES = st.floats(0.5, 300, allow_nan=False)


def measure(deadline: float, work: Callable[[], Coroutine[Any, Any, None]]) -> Lateness:
    async def run() -> Lateness:
        async with LateWatch(deadline) as watch:
            await work()
        return watch.measured

    return asyncio.run(run())


@pytest.mark.alone
def test_a_loop_that_is_left_alone_is_not_late() -> None:
    found = measure(20.0, lambda: asyncio.sleep(0.5))
    assert not found.is_ours
    assert found.probe is not None
    assert 0 < found.probe < 0.5


@pytest.mark.alone
@pytest.mark.parametrize("rest", [0.0, 0.3])
def test_one_long_stall_is_seen_even_at_the_end(rest: float) -> None:
    async def work() -> None:
        await asyncio.sleep(0.2)
        time.sleep(1.2)
        await asyncio.sleep(rest)

    found = measure(20.0, work)
    assert 1.1 < found.lag < 2.0
    assert found.is_ours


@pytest.mark.alone
def test_short_stalls_add_up() -> None:
    async def work() -> None:
        for _ in range(12):
            time.sleep(0.25)
            await asyncio.sleep(0.06)

    found = measure(8.0, work)
    assert found.stalled > 2.0
    assert found.is_ours


@pytest.mark.alone
def test_stalls_further_apart_than_a_deadline_do_not() -> None:
    async def work() -> None:
        for _ in range(2):
            time.sleep(0.6)
            await asyncio.sleep(1.5)

    assert 0.5 < measure(1.0, work).stalled < 1.0


@pytest.mark.alone
def test_a_probe_that_finds_no_file_left_has_failed() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def work() -> None:
        await asyncio.sleep(0.1)
        with Path(os.devnull).open() as next_file:
            limit = next_file.fileno()
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

    try:
        found = measure(20.0, work)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found.probe == PROBE_SECONDS
    assert found.is_ours


@given(DEADLINES, st.integers(0, 300), st.data())
def test_no_number_of_late_miners_voids_the_round_of_a_healthy_validator(
    deadline: float, reached: int, data: st.DataObject
) -> None:
    """Who controls most miners, or all, decides how many are late; nothing else here is theirs."""
    healthy = Lateness(deadline, 0.0, 0.0, None, reached, data.draw(st.integers(0, reached)))
    lag = data.draw(st.floats(0, healthy.max_lag))
    probe = data.draw(st.none() | st.floats(0, healthy.max_lag))
    stalled = data.draw(st.floats(0, DOUBTFUL * MAX_STALLED_SHARE * deadline))
    assert not replace(healthy, lag=lag, probe=probe, stalled=stalled).is_ours


@given(DEADLINES, SECONDS, SECONDS, st.none() | SECONDS, st.integers(0, 300), st.data())
def test_being_later_never_makes_a_void_round_count(
    deadline: float, lag: float, stalled: float, probe: float | None, reached: int, data: st.DataObject
) -> None:
    found = Lateness(deadline, lag, stalled, probe, reached, data.draw(st.integers(0, reached)))
    later = replace(
        found,
        lag=lag + data.draw(SECONDS),
        stalled=stalled + data.draw(SECONDS),
        probe=(probe or 0.0) + data.draw(SECONDS),
        late=data.draw(st.integers(found.late, reached)),
    )
    assert later.is_ours or not found.is_ours


def test_who_was_never_reached_is_not_counted() -> None:
    heard = [
        MinerReply("a", "ok", None, 0.1),
        MinerReply("b", "timeout", None, 9.0),
        MinerReply("c", "unreachable", "connect", 0.0),
        MinerReply("d", "validator_error", "memory", 0.0),
        MinerReply("e", "error", "403", 0.1),
    ]
    counted = count_late(Lateness(20.0, 0.0, 0.0, None), heard)
    assert (counted.reached, counted.late) == (3, 1)


def test_every_answer_of_a_void_round_is_left_out() -> None:
    proof = {"signature": "0x"}
    heard = [
        MinerReply("a", "ok", None, 0.1, {"text": "good"}, proof),
        MinerReply("b", "unreachable", "no_endpoint", 0.0),
        MinerReply("c", "validator_error", "memory", 0.0),
    ]
    judged = blame_late(heard, Lateness(20.0, 2.0, 2.0, None))
    assert [(one.status, one.reason) for one in judged] == [
        ("validator_error", "late"),
        ("validator_error", "late"),
        ("validator_error", "memory"),
    ]
    assert all(one.payload is None and one.proof is None for one in judged)
