"""A standby waits for the lock and for the chain, and refuses where waiting proves nothing."""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from engine.small_subnet import (
    ALICE,
    START,
    Observed,
    count_taken,
    make_chain,
    make_weigh_in_context,
    observe_example,
    play,
)
from postgres import on_sqlite
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.running.standby import Standby
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.database import Store

BLOCKS = 10
PATIENCE_SECONDS = 30.0


@dataclass
class Pair:
    """A first validator that has set weights, and the chain and store that both use."""

    store: Store
    file: ChainFile
    context: WeighInContext
    first: HotkeyLock

    def weigh(self, now: float) -> None:
        done = asyncio.run(weigh_in(self.context, now))
        assert done.submission is not None
        assert done.submission.state == "confirmed"

    def make_standby(self, store: Store | None = None) -> Standby:
        context = make_weigh_in_context(store or self.store, self.file)
        lock = HotkeyLock(store or self.store, ALICE.address)
        fenced = replace(context, ledger=Ledger(context.journal.store, "chunking", lock.require))
        return Standby(lock, [fenced], BLOCKS, pause_seconds=0.02)


@pytest.fixture(scope="module")
def observed(senses: LocalSenses) -> Observed:
    return observe_example(senses)


@pytest.fixture
def pair(tmp_path: Path, store: Store, observed: Observed) -> Iterator[Pair]:
    miners = {one.hotkey: "127.0.0.1:8000" for one in observed[0].answers}
    file = make_chain(tmp_path, miners)
    first = HotkeyLock(store, ALICE.address)
    first.take()
    context = make_weigh_in_context(store, file)
    context = replace(context, ledger=Ledger(store, "chunking", first.require))
    play(context.journal, observed, "r0")
    found = Pair(store, file, context, first)
    found.weigh(START + 60)
    yield found
    with suppress(WeighbeamError):
        first.release()


async def run_through(standby: Standby, *steps: Callable[[], object]) -> list[bool]:
    """Take the steps one by one; after each, whether it has its turn once nothing changes any more."""
    task, found = asyncio.create_task(standby.wait_for_turn()), []
    try:
        for step in steps:
            await asyncio.to_thread(step)
            await asyncio.wait({task}, timeout=0.5)
            found.append(task.done())
        if task.done():
            task.result()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, WeighbeamError):
            await task
    return found


def test_it_takes_over_when_the_lock_is_gone_and_the_chain_silent(pair: Pair) -> None:
    standby = pair.make_standby()
    steps = (
        lambda: None,
        lambda: advance(pair.file, 3 * BLOCKS),
        pair.first.release,
        lambda: advance(pair.file, BLOCKS - 1),
        lambda: advance(pair.file, 1),
    )
    assert asyncio.run(run_through(standby, *steps)) == [False, False, False, False, True]
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        HotkeyLock(pair.store, ALICE.address).take()
    standby.lock.release()


def test_weights_of_the_first_that_come_late_are_waited_for(pair: Pair) -> None:
    """They were signed before its lock was gone."""

    def come_late() -> None:
        advance(pair.file, BLOCKS - 1)
        planned = make_weigh_in_context(pair.store, pair.file)
        asyncio.run(weigh_in(planned, START + 200))

    standby = pair.make_standby()
    steps = (
        pair.first.release,
        come_late,
        lambda: advance(pair.file, BLOCKS - 1),
        lambda: advance(pair.file, 1),
    )
    assert asyncio.run(run_through(standby, *steps)) == [False, False, False, True]
    standby.lock.release()


def test_a_first_that_comes_back_is_left_in_peace(pair: Pair) -> None:
    standby = pair.make_standby()
    steps = (
        pair.first.release,
        lambda: advance(pair.file, BLOCKS - 1),
        pair.first.take,
        lambda: advance(pair.file, 5 * BLOCKS),
        pair.first.release,
        lambda: advance(pair.file, BLOCKS - 1),
        lambda: advance(pair.file, 1),
    )
    assert asyncio.run(run_through(standby, *steps)) == [False] * 6 + [True]
    standby.lock.release()


def test_another_that_ran_and_died_between_two_looks_is_waited_for_too(pair: Pair) -> None:
    """What it signed may still be included, however short it ran."""

    def leave_dead() -> None:
        ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
        place = pair.first.holder.rpartition(":")[0].rpartition(":")[0]
        holder = f"{place}:{int(ended.stdout)}:0123abcd"
        with pair.store.write() as connection:
            connection.execute(insert(tables.locks).values(hotkey=ALICE.address, holder=holder, beat=time.time()))

    standby = pair.make_standby()
    steps = (
        pair.first.release,
        lambda: advance(pair.file, BLOCKS - 1),
        leave_dead,
        lambda: advance(pair.file, BLOCKS - 1),
        lambda: advance(pair.file, 1),
    )
    assert asyncio.run(run_through(standby, *steps)) == [False] * 4 + [True]
    standby.lock.release()


def test_a_chain_that_cannot_be_read_proves_no_silence(pair: Pair) -> None:
    standby = pair.make_standby()
    chain = standby.contexts[0].chain
    assert isinstance(chain, LocalChain)

    def cut() -> None:
        chain.faults.unreachable = True
        pair.first.release()
        advance(pair.file, 5 * BLOCKS)

    def restore() -> None:
        chain.faults.unreachable = False

    steps = cut, restore, lambda: advance(pair.file, BLOCKS)
    assert asyncio.run(run_through(standby, *steps)) == [False, False, True]
    standby.lock.release()


def test_of_two_that_stand_by_one_takes_over(pair: Pair) -> None:
    one, other = pair.make_standby(), pair.make_standby()

    async def race() -> list[bool]:
        tasks = [asyncio.create_task(standby.wait_for_turn()) for standby in (one, other)]
        await asyncio.to_thread(pair.first.release)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(advance, pair.file, BLOCKS)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not any(task.done() for task in tasks):
                await asyncio.sleep(0.02)
        await asyncio.to_thread(advance, pair.file, 5 * BLOCKS)
        await asyncio.sleep(0.5)
        found = [task.done() for task in tasks]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return found

    assert sorted(asyncio.run(race())) == [False, True]
    for standby in (one, other):
        standby.lock.release()


def test_a_store_in_which_nobody_ever_ran_is_refused(pair: Pair, tmp_path: Path) -> None:
    alone = Store(f"sqlite:///{tmp_path / 'alone.db'}")
    with pytest.raises(WeighbeamError, match=r"standby_unshared.*nothing in this store"):
        asyncio.run(pair.make_standby(alone).wait_for_turn())
    alone.close()


@on_sqlite
def test_a_copy_of_the_store_is_found_out_by_the_chain(pair: Pair, tmp_path: Path) -> None:
    """The first goes on in its own store; the copy's ledger knows nothing of its newest weights."""
    with closing(sqlite3.connect(str(pair.store.engine.url.database))) as original:
        original.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    copy = Store(f"sqlite:///{tmp_path / 'copy.db'}")
    standby = pair.make_standby(copy)
    with copy.write() as connection:
        connection.execute(tables.locks.delete())
    advance(pair.file, 6)
    pair.weigh(START + 200)
    with pytest.raises(WeighbeamError, match=r"standby_unshared.*another store is in use"):
        asyncio.run(standby.wait_for_turn())
    assert standby.lock.find_row() is None
    copy.close()


@on_sqlite
def test_a_file_that_another_machine_uses_is_refused(pair: Pair) -> None:
    with pair.store.write() as connection:
        connection.execute(update(tables.locks).values(holder="elsewhere/0badb007/4026531836:77:abcd"))
    with pytest.raises(WeighbeamError, match=r"standby_unsafe.*another machine"):
        asyncio.run(pair.make_standby().wait_for_turn())


@pytest.mark.parametrize("planned", [False, True])
@on_sqlite
def test_a_first_that_stood_still_through_the_takeover_sets_nothing(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, planned: bool
) -> None:
    """Its lock is taken over while it is between two steps of a weigh-in."""
    advance(pair.file, 6)
    taken, ledger = count_taken(pair.file), pair.context.ledger

    def take_over() -> None:
        with pair.store.write() as connection:
            connection.execute(update(tables.locks).values(holder="elsewhere/0badb007/4026531836:77:abcd"))

    if planned:
        real = ledger.plan

        def plan_then_stand_still(*given: object) -> int:
            number = real(*given)  # type: ignore[arg-type]
            take_over()
            return number

        monkeypatch.setattr(ledger, "plan", plan_then_stand_still)
    else:
        take_over()
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        asyncio.run(weigh_in(pair.context, START + 200))
    assert count_taken(pair.file) == taken
    assert [row.state for row in ledger.rows()] == ["confirmed", "planned"][: 1 + planned]
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        pair.first.check()
