"""A process that joins a Ray cluster for a validator: requests on standard input, replies on standard output.

It ends with its input, however that ends, and its workers with it. If the cluster ends first, so does the broker; its
validator starts another.
"""

import asyncio
import json
import os
import pickle
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import IO, Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.actors import RayWorker, call_in_thread, count_nodes
from weighbeam.senses.adapters.cluster.connection import join_ray
from weighbeam.senses.adapters.cluster.messages import (
    LEFT,
    BrokerRequest,
    DoPart,
    DropParts,
    OpenPool,
    WorkerBounds,
    encode_reply,
    format_fault,
)
from weighbeam.senses.adapters.cluster.pool import WorkerPool
from weighbeam.senses.adapters.cluster.workers import PartResult, PoolBatch, WorkerHandle
from weighbeam.senses.adapters.frames import MAX_BYTES, receive_frame, send_frame

MAX_BODY = MAX_BYTES - (64 << 10)
LOOK_SECONDS = 0.1
STATUS_LOOKS = 5
COUNT_SECONDS = 2.0
HEAD_SECONDS = 30.0
LEAVE_SECONDS = 3.0


class Broker:
    """The pools of one validator, by the senses they are for."""

    def __init__(self, ray: Any, bounds: WorkerBounds, sink: IO[bytes]) -> None:
        self._ray, self._bounds, self._sink = ray, bounds, sink
        self._pools: dict[str, WorkerPool] = {}
        self._looks = 0
        self._counted: dict[str, float] = {}
        self._counted_at = time.monotonic()

    def take(self, request: BrokerRequest) -> None:
        if isinstance(request, OpenPool):
            if request.key not in self._pools:
                self._pools[request.key] = WorkerPool(request, self._bounds, self._start, self._answer)
        elif isinstance(request, DoPart):
            self._pools[request.key].add(PoolBatch(request.number, request.lane, request.payload))
        elif isinstance(request, DropParts):
            for pool in self._pools.values():
                pool.drop(frozenset(request.numbers))

    def look_after(self) -> None:
        starved = [pool for pool in self._pools.values() if pool.is_starved()]
        for pool in self._pools.values():
            pool.look_after(any(other is not pool for other in starved))
        if self._looks % STATUS_LOOKS == 0:
            pools = {key: asdict(pool.status) for key, pool in self._pools.items()}
            self._say({"status": pools, "cluster": self._counted})
        self._looks += 1

    async def count(self) -> None:
        """Count nodes and cores in a thread, because Ray's head may not answer."""
        while True:
            with suppress(Exception):
                self._counted = await call_in_thread(partial(count_nodes, self._ray))
                self._counted_at = time.monotonic()
            await asyncio.sleep(COUNT_SECONDS)

    def is_cut_off(self) -> bool:
        """Nobody works, and the head has not answered for long: another broker may find another head."""
        silent = time.monotonic() - self._counted_at >= HEAD_SECONDS
        return silent and not any(pool.status.ready for pool in self._pools.values())

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _start(self, terms: OpenPool) -> WorkerHandle:
        return RayWorker(self._ray, terms)

    def _answer(self, number: int, made: PartResult) -> None:
        """Send an answer; one too large for the pipe counts as missing."""
        fault, body = made if len(made[1]) <= MAX_BODY else ({"code": LEFT}, b"")
        self._say({"done": number} if fault is None else {"fault": number, **fault}, body)

    def _say(self, head: dict[str, Any], body: bytes = b"") -> None:
        send_frame(self._sink, encode_reply(head, body))


async def serve(broker: Broker, source: IO[bytes]) -> None:
    """Until there is no more to come, or nobody to reply to."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    hear = threading.Thread(target=_hear, args=(source, loop, broker.take, ended), daemon=True)
    hear.start()
    counting = asyncio.create_task(broker.count())
    while not ended.is_set() and not broker.is_cut_off():
        broker.look_after()
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), LOOK_SECONDS)
    threading.Timer(LEAVE_SECONDS, os._exit, (0,)).start()
    counting.cancel()
    broker.close()


def _hear(source: IO[bytes], loop: asyncio.AbstractEventLoop, take: Any, ended: asyncio.Event) -> None:
    with suppress(EOFError, OSError, RuntimeError):
        while True:
            request = pickle.loads(receive_frame(source))
            loop.call_soon_threadsafe(partial(take, request))
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(ended.set)


def main() -> None:
    settings = json.loads(sys.argv[1])
    source, sink = _keep_pipes()
    try:
        ray = join_ray(settings.pop("address"))
    except WeighbeamError as fault:
        send_frame(sink, encode_reply({"refused": format_fault(fault)}))
        return
    try:
        asyncio.run(serve(Broker(ray, WorkerBounds(**settings), sink), source))
        ray.shutdown()
    finally:
        os._exit(0)


def _keep_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Whatever prints prints elsewhere."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return source, sink


if __name__ == "__main__":
    main()
