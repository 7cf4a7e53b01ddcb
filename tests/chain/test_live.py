"""The watch of the chain, on the local chain and through the SDK: stalls, silent nodes, clocks; and announcing."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from chain.stand import Stand, make_adapter, open_stand
from engine.small_subnet import ALICE, Observed, Turned
from loopnode.need import need_sdk
from weighbeam.app.miner import announce_once
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.engine.running.chain_watch import ChainWatch, WatchLimits
from weighbeam.store import tables

STALL = 1.6
PATIENCE_SECONDS = 30.0


@pytest.fixture(params=["local", "bittensor"])
def stand(request: pytest.FixtureRequest, tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    if request.param == "bittensor":
        need_sdk()
    with open_stand(request.param, tmp_path, observed_addresses) as made:
        with made.file.locked():
            made.file.write("speed", 100.0)
        yield made


@pytest.fixture
def served(tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    need_sdk()
    with open_stand("bittensor", tmp_path, observed_addresses) as made:
        yield made


def step(stand: Stand) -> None:
    if stand.node is None:
        advance(stand.file, 1)
    else:
        stand.node.step()


async def until(reached: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while not reached():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.to_thread(meanwhile)
        await asyncio.sleep(0.05)


class Watched:
    """A watch that runs, its clock, and the alerts it raises."""

    def __init__(self, stand: Stand, chain: Any, limits: WatchLimits) -> None:
        self.store = stand.weigh_in_context.journal.store
        self.clock = Turned(stand.file.time_of(int(stand.file.read("head"))))
        self.watch = ChainWatch(chain, self.clock, Alerts(self.store, self.clock.now), limits)

    def told(self) -> list[str]:
        with self.store.read() as connection:
            return [row.code for row in connection.execute(select(tables.alerts).order_by(tables.alerts.c.id))]

    def list_open(self) -> list[str]:
        return [notice.code for notice in list_notices(self.store)]

    def texts(self) -> list[str]:
        with self.store.read() as connection:
            return [row.text for row in connection.execute(select(tables.alerts).order_by(tables.alerts.c.id))]


@asynccontextmanager
async def watching(stand: Stand, chain: Any, stall: float = STALL, compare: float = 3600.0) -> Any:
    found = Watched(stand, chain, WatchLimits(stall, 30.0, compare))
    task = asyncio.create_task(found.watch.keep_watching())
    try:
        yield found
        assert not task.done(), task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def test_a_stall_is_told_once_and_ended_by_the_next_block(stand: Stand) -> None:
    async def play() -> None:
        async with watching(stand, stand.chain) as found:
            before = stand.file.read("head")
            await until(lambda: found.watch.newest > before, lambda: step(stand))
            assert found.told() == []
            await until(lambda: bool(found.told()))
            assert found.list_open() == ["stalled"]
            await asyncio.sleep(STALL)
            assert found.told() == ["stalled"], "once"
            await until(lambda: found.list_open() == [], lambda: step(stand))

    stand.run(play())


def test_blocks_that_come_in_time_raise_nothing(stand: Stand) -> None:
    async def play() -> None:
        async with watching(stand, stand.chain, stall=5.0) as found:
            before = int(stand.file.read("head"))
            await until(lambda: found.watch.newest >= before + 20, lambda: step(stand))
            assert (found.told(), found.watch.restarts) == ([], 0)

    stand.run(play())


@pytest.mark.parametrize("ahead", [95.0, -95.0])
def test_a_clock_that_is_off_is_told_with_its_side_and_ended_when_it_is_set(stand: Stand, ahead: float) -> None:
    async def play() -> None:
        async with watching(stand, stand.chain, stall=60.0, compare=0.0) as found:

            def go_on(error: float) -> None:
                step(stand)
                found.clock.at = stand.file.time_of(int(stand.file.read("head"))) + error

            await until(lambda: found.watch.newest > int(stand.file.read("genesis_block")) + 22, lambda: go_on(20.0))
            assert found.told() == []
            await until(lambda: bool(found.told()), lambda: go_on(ahead))
            assert found.list_open() == ["clock_skew"]
            assert ("ahead of" if ahead > 0 else "behind") in found.texts()[0]
            await until(lambda: found.list_open() == [], lambda: go_on(0.0))
            assert found.told() == ["clock_skew"]

    stand.run(play())


def test_a_connection_that_is_cut_is_made_again_without_an_alert(served: Stand) -> None:
    async def play() -> None:
        async with watching(served, served.chain, stall=10.0) as found:
            for _ in range(3):
                seen, restarts = found.watch.newest, found.watch.restarts
                await until(lambda seen=seen: found.watch.newest > seen, served.node.step)
                served.server.drop_all()
                await until(lambda restarts=restarts: found.watch.restarts > restarts)
            await until(lambda seen=found.watch.newest: found.watch.newest > seen, served.node.step)
            assert found.told() == []

    served.run(play())


def test_a_node_that_falls_silent_is_told_with_the_reason_and_asked_again(served: Stand) -> None:
    """Blocks are made, but not a byte comes any more: a half-open connection."""
    served.limits.stall, served.limits.connect = STALL, 1.0

    async def play() -> None:
        async with watching(served, served.chain) as found:
            await until(lambda: found.watch.newest >= 21, served.node.step)
            push, served.node.on_block = served.node.on_block, lambda: None
            served.node.faults.silent = True
            await until(lambda: bool(found.told()), served.node.step)
            assert "no block after" in found.texts()[0]
            served.node.faults.silent, served.node.on_block = False, push
            await until(lambda: found.list_open() == [], served.node.step)

    served.run(play())


def test_a_node_that_stands_still_is_left_for_the_next_endpoint(served: Stand, tmp_path: Path) -> None:
    from loopnode.node import LoopNode
    from loopnode.server import serve_node

    served.file.db.execute("VACUUM INTO ?", (str(tmp_path / "alive.sqlite"),))
    alive = LoopNode(ChainFile(tmp_path / "alive.sqlite"))
    served.limits.stall = STALL

    async def play() -> None:
        async with watching(served, make_adapter(served, tmp_path, fallbacks=(server.url,))) as found:
            await until(lambda: "stalled" in found.list_open())
            await until(lambda: found.watch.newest > 30 and found.list_open() == [], alive.step)

    with serve_node(alive) as server:
        served.run(play())


def test_a_watch_costs_the_node_nothing_but_one_reading_of_its_clock_a_minute(served: Stand) -> None:
    async def play() -> None:
        async with watching(served, served.chain, stall=60.0, compare=0.0) as found:
            await until(lambda: found.watch.newest >= 22, served.node.step)
            before, newest = len(served.server.calls), found.watch.newest
            await until(lambda: found.watch.newest >= newest + 20, served.node.step)
            blocks = found.watch.newest - newest
            assert len(served.server.calls) - before <= 4 * (blocks + 1), "comparing at every block"
            found.watch._limits = WatchLimits(60.0, 30.0, 3600.0)
            await until(lambda seen=found.watch.newest: found.watch.newest > seen + 1, served.node.step)
            before, newest = len(served.server.calls), found.watch.newest
            await until(lambda: found.watch.newest >= newest + 20, served.node.step)
            assert len(served.server.calls) == before, "blocks are pushed"

    served.run(play())


def test_a_miner_is_announced_on_the_chain_once(stand: Stand) -> None:
    async def play(where: str) -> str | None:
        assert await announce_once(stand.chain, ALICE.address, where)
        neuron = (await stand.chain.metagraph()).find(ALICE.address)
        return None if neuron is None else neuron.endpoint

    for where in ("192.0.2.7:8091", "[2001:db8::7]:8091"):
        assert stand.run(play(where)) == where
        sent = None if stand.node is None else len(stand.node.included)
        assert stand.run(play(where)) == where
        assert sent is None or len(stand.node.included) == sent, "announced already"
    assert stand.run(play("localhost:8091")) in ("127.0.0.1:8091", "[::1]:8091")


def test_an_announcement_that_fails_is_tried_again_and_ends_nothing(
    served: Stand, caplog: pytest.LogCaptureFixture
) -> None:
    served.node.faults.dispatch_error = "ServingRateLimitExceeded"
    assert not served.run(announce_once(served.chain, ALICE.address, "192.0.2.7:8091"))
    served.node.faults.dispatch_error = None
    assert not served.run(announce_once(served.chain, ALICE.address, "0.0.0.0:8091"))
    assert not served.run(announce_once(served.chain, "5nobody", "192.0.2.7:8091"))
    assert served.run(announce_once(served.chain, ALICE.address, "192.0.2.7:8091"))
    codes = [record.code for record in caplog.records if hasattr(record, "code")]
    assert codes == ["rate_limited", "bad_address", "not_registered"]
