"""The outbox: nothing is lost, nothing blocks the rest, and what never works is given up."""

import asyncio
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.small_subnet import HOUR, START, Turned
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.outbox import deliver, queue
from weighbeam.engine.outbox.queue import MAX_TRIES, MAX_WAIT_SECONDS, OutboxItem, insert_item, list_due
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.store import tables
from weighbeam.store.database import Store


@pytest.fixture
def store(store_url: str):
    opened = Store(store_url)
    yield opened
    opened.close()


def put(store: Store, ref: str, kind: str = "note", at: float = START) -> None:
    with store.write() as connection:
        insert_item(connection, kind, ref, "recall", at, {"ref": ref})


def states(store: Store) -> dict[str, tuple[str, int]]:
    with store.read() as connection:
        return {row.ref: (row.state, row.tries) for row in connection.execute(tables.outbox.select())}


def turn(store: Store, clock: Turned, deliveries) -> int:
    return asyncio.run(deliver.deliver_due(store, clock, Alerts(store, clock.now), deliveries))


def test_an_item_is_put_once_and_done_once(store: Store) -> None:
    done: list[str] = []

    async def note(item: OutboxItem) -> None:
        done.append(item.body["ref"])

    put(store, "a")
    put(store, "a")
    assert turn(store, Turned(), {"note": note}) == 1
    assert turn(store, Turned(), {"note": note}) == 0
    put(store, "a")
    assert turn(store, Turned(), {"note": note}) == 0
    assert done == ["a"]
    assert states(store) == {"a": ("done", 0)}


def test_what_fails_waits_ever_longer_and_holds_nobody_up(store: Store) -> None:
    clock, tried = Turned(), []

    async def fail(item: OutboxItem) -> None:
        tried.append((item.ref, clock.now()))
        if item.ref == "bad":
            raise WeighbeamError("artifact_fault", "no disk", "mend it")

    put(store, "bad")
    put(store, "good")
    turn(store, clock, {"note": fail})
    assert states(store) == {"bad": ("waiting", 1), "good": ("done", 0)}
    assert turn(store, clock, {"note": fail}) == 0
    began = clock.at
    for _ in range(MAX_TRIES - 2):
        clock.at += MAX_WAIT_SECONDS
        assert turn(store, clock, {"note": fail}) == 1
    assert states(store)["bad"] == ("waiting", MAX_TRIES - 1)
    assert clock.at - began > 48 * HOUR
    clock.at += MAX_WAIT_SECONDS
    turn(store, clock, {"note": fail})
    assert states(store)["bad"][0] == "given_up"
    assert [alert.code for alert in list_alerts(store, limit=5).items] == ["outbox_given_up"]
    clock.at += 100 * HOUR
    assert turn(store, clock, {"note": fail}) == 0


def test_waits_double_up_to_an_hour(store: Store) -> None:
    put(store, "a")
    waits, now = [], START
    for _ in range(12):
        (item,) = list_due(store, now, ["note"])
        queue.postpone(store, item, now, "again")
        with store.read() as connection:
            due = connection.execute(tables.outbox.select()).one().due
        waits.append(due - now)
        now = due
    assert waits[:4] == [5.0, 10.0, 20.0, 40.0]
    assert waits == sorted(waits)
    assert waits[-1] == MAX_WAIT_SECONDS


def test_a_clock_that_jumped_back_holds_nothing_up(store: Store) -> None:
    put(store, "later", at=START + 1000 * HOUR)
    assert [item.ref for item in list_due(store, START, ["note"])] == ["later"]
    put(store, "soon", at=START + 60)
    assert [item.ref for item in list_due(store, START, ["note"])] == ["later"]


def test_a_delivery_that_hangs_is_cut_and_one_nobody_knows_is_given_up(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(deliver, "ITEM_SECONDS", 0.05)

    async def hang(_: OutboxItem) -> None:
        await asyncio.sleep(60)

    put(store, "slow")
    put(store, "strange", kind="of a later version")
    began = time.monotonic()
    turn(store, Turned(), {"note": hang})
    assert time.monotonic() - began < 40
    assert states(store) == {"slow": ("waiting", 1), "strange": ("given_up", 1)}


def test_a_slow_kind_holds_up_no_other(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(deliver, "POLL_SECONDS", 0.01)
    told = asyncio.Event()

    async def hang(_: OutboxItem) -> None:
        await asyncio.sleep(60)

    async def tell(_: OutboxItem) -> None:
        told.set()

    async def run() -> None:
        clock = Turned()
        work = deliver.keep_delivering(store, clock, Alerts(store, clock.now), {"story": hang, "alerts": tell})
        loop = asyncio.create_task(work)
        await asyncio.wait_for(told.wait(), 60)
        loop.cancel()

    put(store, "first", kind="story")
    put(store, "second", kind="alerts")
    asyncio.run(run())


def test_a_clock_that_jumps_gives_nothing_up(store: Store) -> None:
    async def fail(_: OutboxItem) -> None:
        raise RuntimeError

    put(store, "a")
    turn(store, Turned(START + 1000 * HOUR), {"note": fail})
    assert states(store) == {"a": ("waiting", 1)}


def test_the_loop_outlives_a_store_that_fails(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(deliver, "FAULT_SECONDS", 0.01)
    monkeypatch.setattr(deliver, "POLL_SECONDS", 0.01)
    done, real, calls = asyncio.Event(), deliver.list_due, iter(range(3))

    def shaky(*arguments):
        if next(calls, None) is not None:
            raise WeighbeamError("store_fault", "full", "free space")
        return real(*arguments)

    async def note(_: OutboxItem) -> None:
        done.set()

    async def run() -> None:
        clock = Turned()
        loop = asyncio.create_task(deliver.keep_delivering(store, clock, Alerts(store, clock.now), {"note": note}))
        await asyncio.wait_for(done.wait(), 60)
        loop.cancel()

    monkeypatch.setattr(deliver, "list_due", shaky)
    put(store, "a")
    asyncio.run(run())


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(faults=st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_whatever_the_order_of_faults_everything_is_done_in_the_end(tmp_path_factory, faults: list[int]) -> None:
    opened = Store(f"sqlite:///{tmp_path_factory.mktemp('outbox') / 'journal.db'}")
    left = dict(enumerate(faults))
    done: list[str] = []

    async def shaky(item: OutboxItem) -> None:
        number = int(item.ref)
        if left[number]:
            left[number] -= 1
            raise RuntimeError
        done.append(item.ref)

    for number in left:
        put(opened, str(number))
    clock = Turned()
    for _ in range(8):
        turn(opened, clock, {"note": shaky})
        clock.at += 60
    assert sorted(done, key=int) == [str(number) for number in left]
    opened.close()
