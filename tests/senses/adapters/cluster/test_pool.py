"""The pool's rules, with workers that do what a test says: who gets what, what becomes of it when they are lost."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from weighbeam.senses.adapters.cluster import pool as pools
from weighbeam.senses.adapters.cluster.messages import OpenPool, WorkerBounds
from weighbeam.senses.adapters.cluster.pool import WorkerPool
from weighbeam.senses.adapters.cluster.spec import WorkerStandard
from weighbeam.senses.adapters.cluster.workers import PartResult, PoolBatch, UnfitWorker, WorkerIntroduction

STANDARD = WorkerStandard("1", "digest", "known")


class Told:
    """A worker that a test tells what to do."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ready: asyncio.Future[WorkerIntroduction] = asyncio.get_running_loop().create_future()
        self.work: dict[bytes, asyncio.Future[PartResult]] = {}
        self.ended = False

    async def introduce(self) -> WorkerIntroduction:
        return await self.ready

    async def do(self, payload: bytes) -> PartResult:
        self.work[payload] = asyncio.get_running_loop().create_future()
        return await self.work.pop(payload) if self.work[payload].done() else await self.work[payload]

    def end(self) -> None:
        self.ended = True

    def come(self, standard: WorkerStandard = STANDARD) -> None:
        self.ready.set_result(WorkerIntroduction(f"node-{self.number}", self.number, standard))

    def finish(self, payload: bytes) -> None:
        self.work.pop(payload).set_result((None, payload.upper()))

    def die(self) -> None:
        for one in self.work.values():
            if not one.done():
                one.set_exception(ConnectionError("gone"))
        self.work.clear()


class Scene:
    """A pool, its workers in the order they were asked for, and the answers given."""

    def __init__(self, bounds: WorkerBounds | None = None, at_once: int = 1, part_seconds: float = 60.0) -> None:
        self.hands: list[Told] = []
        self.answers: dict[int, PartResult] = {}
        terms = OpenPool("key", b"", STANDARD, at_once, part_seconds)
        self.pool = WorkerPool(terms, bounds or WorkerBounds(1, 1, 60.0), self.start, self.answers.__setitem__)

    def start(self, terms: OpenPool) -> Told:
        self.hands.append(Told(len(self.hands)))
        return self.hands[-1]

    async def settle(self, seconds: float = 0.0, others_starve: bool = False) -> None:
        """Let what was said sink in, and have the pool look after its workers."""
        await asyncio.sleep(seconds)
        self.pool.look_after(others_starve)
        for _ in range(5):
            await asyncio.sleep(0)

    async def add(self, *payloads: bytes, lane: int | None = None, first: int = 0) -> None:
        for number, payload in enumerate(payloads, first):
            self.pool.add(PoolBatch(number, lane, payload))
        await self.settle()

    def under_way(self) -> list[list[bytes]]:
        return [sorted(hand.work) for hand in self.hands if not hand.ended]


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(scene(), 20))


def test_a_worker_has_two_parts_at_most_and_the_others_wait_in_order() -> None:
    async def scene() -> None:
        here = Scene()
        await here.settle()
        here.hands[0].come()
        await here.add(b"a", b"b", b"c", b"d")
        assert here.under_way() == [[b"a", b"b"]]
        assert (here.pool.status.busy, here.pool.status.waiting) == (1, 2)
        here.hands[0].finish(b"a")
        await here.settle()
        assert here.under_way() == [[b"b", b"c"]]
        assert here.answers == {0: (None, b"A")}

    play(scene)


def test_the_parts_of_a_lost_worker_go_to_the_next_each_alone() -> None:
    async def scene() -> None:
        here = Scene()
        await here.settle()
        here.hands[0].come()
        await here.add(b"a", b"b", b"c")
        here.hands[0].die()
        await here.settle()
        await here.settle()
        here.hands[1].come()
        await here.settle()
        assert here.under_way() == [[b"a"]], "what may have ended a worker has the next for itself"
        for payload in (b"a", b"b"):
            here.hands[1].finish(payload)
            await here.settle()
        here.hands[1].finish(b"c")
        await here.settle()
        assert here.answers == {0: (None, b"A"), 1: (None, b"B"), 2: (None, b"C")}

    play(scene)


def test_a_part_that_has_to_be_done_alone_is_not_kept_waiting_by_others() -> None:
    async def scene() -> None:
        here = Scene(WorkerBounds(2, 2, 60.0))
        await here.settle()
        here.hands[0].come()
        await here.add(b"a")
        here.hands[0].die()
        await here.settle()
        here.hands[1].come()
        await here.settle()
        here.hands[1].finish(b"a")
        await here.settle()
        here.hands[2].come()
        await here.add(*(bytes([98 + i]) for i in range(9)), first=1)
        here.hands[1].die()
        await here.settle()
        assert here.under_way() == [[b"d", b"e"], []], "the other worker has no more than before"
        here.hands[2].finish(b"d")
        await here.settle()
        here.hands[2].finish(b"e")
        await here.settle()
        assert here.under_way()[0] == [b"b"]

    play(scene)


def test_a_part_that_ends_three_workers_is_told_and_takes_no_other_with_it() -> None:
    async def scene() -> None:
        here = Scene()
        await here.settle()
        here.hands[0].come()
        await here.add(b"poison", b"fine")
        for _ in range(3):
            here.hands[-1].die()
            await here.settle()
            await here.settle()
            here.hands[-1].come()
            await here.settle()
        assert here.answers[0][0] is not None
        assert here.answers[0][0]["code"] == "worker_lost"
        here.hands[-1].finish(b"fine")
        await here.settle()
        assert here.answers[1] == (None, b"FINE")

    play(scene)


def test_a_worker_that_hangs_is_ended() -> None:
    async def scene() -> None:
        here = Scene(part_seconds=0.05)
        await here.settle()
        here.hands[0].come()
        await here.add(b"a")
        await here.settle(0.06)
        assert here.hands[0].ended
        await here.settle()
        here.hands[1].come()
        await here.settle()
        here.hands[1].finish(b"a")
        await here.settle()
        assert here.answers == {0: (None, b"A")}

    play(scene)


def test_workers_come_while_parts_wait_and_go_when_there_is_nothing_to_do(monkeypatch) -> None:
    monkeypatch.setattr(pools, "RAMP_SECONDS", 0.0)

    async def scene() -> None:
        here = Scene(WorkerBounds(1, 3, 0.05))
        await here.settle()
        assert len(here.hands) == 1
        here.hands[0].come()
        await here.add(*(bytes([65 + i]) for i in range(20)))
        await here.settle()
        assert len(here.hands) == 2, "one more, not all at once"
        await here.settle()
        assert len(here.hands) == 2, "until that one has come"
        here.hands[1].come()
        await here.settle()
        await here.settle()
        assert len(here.hands) == 3
        await here.settle()
        assert here.pool.status.starting == 1, "never more than the most, and nobody waits for who has no place"
        while len(here.answers) < 20:
            for hand in here.hands:
                for payload in sorted(hand.work):
                    hand.finish(payload)
            await here.settle()
        await here.settle(0.06)
        await here.settle()
        assert [hand.ended for hand in here.hands].count(False) == 1

    play(scene)


def test_a_worker_that_differs_is_not_used_and_named(monkeypatch) -> None:
    async def scene() -> None:
        here = Scene()
        await here.settle()
        here.hands[0].come(WorkerStandard("1", "digest", "another"))
        await here.add(b"a")
        assert here.hands[0].ended
        assert here.pool.status.differs == "on node-0 what it makes of known input is 'another', here 'known'"
        await here.settle()
        assert len(here.hands) == 1, "the next after a pause"
        await here.settle(1.01)
        here.hands[1].come()
        await here.settle()
        assert here.under_way() == [[b"a"]]
        assert here.pool.status.differs is not None, "another node's worker says nothing about that one"
        monkeypatch.setattr(pools, "UNFIT_SECONDS", 0.0)
        assert here.pool.status.differs is None

    play(scene)


def test_a_node_where_nothing_can_start_is_told() -> None:
    async def scene() -> None:
        here = Scene()
        await here.settle()
        here.hands[0].ready.set_exception(UnfitWorker("no module named weighbeam"))
        await here.settle()
        assert here.pool.status.differs == "a worker cannot start: no module named weighbeam"

    play(scene)


def test_a_lane_is_at_one_worker_at_a_time() -> None:
    async def scene() -> None:
        here = Scene(WorkerBounds(2, 2, 60.0), at_once=2)
        await here.settle()
        for hand in here.hands:
            hand.come()
        await here.add(b"a", b"b", b"c", b"d", lane=7)
        await here.add(b"x", lane=8, first=4)
        assert here.under_way() == [[b"a", b"b", b"c"], [b"x"]]
        here.hands[0].finish(b"a")
        await here.settle()
        assert here.under_way() == [[b"b", b"c", b"d"], [b"x"]]

    play(scene)


def test_room_is_left_to_a_sense_that_has_nobody() -> None:
    async def scene() -> None:
        here = Scene(WorkerBounds(1, 2, 60.0))
        await here.settle()
        here.hands[0].come()
        await here.add(b"a", b"b", b"c", b"d", b"e")
        await here.settle(0.31)
        here.hands[1].come()
        await here.settle()
        assert here.under_way() == [[b"a", b"b"], [b"c", b"d"]]
        await here.settle(others_starve=True)
        for payload in (b"a", b"b"):
            here.hands[0].finish(payload)
        await here.settle(others_starve=True)
        assert [hand.ended for hand in here.hands] == [True, False], "it finished what it had"
        await here.settle(0.31, others_starve=True)
        assert len(here.hands) == 2

    play(scene)


def test_what_nobody_waits_for_is_not_begun() -> None:
    async def scene() -> None:
        here = Scene()
        await here.add(b"a", b"b")
        here.pool.drop(frozenset({0}))
        here.hands[0].come()
        await here.settle()
        assert here.under_way() == [[b"b"]]
        assert json.dumps(here.answers) == "{}"

    play(scene)
