"""The node's WebSocket: a thread with a loop of its own, requests single or in batches, subscriptions, faults."""

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Request, Response, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed

from loopnode.extrinsic import PoolRefusal
from loopnode.methods import UnknownMethod, answer, write_header
from loopnode.node import LoopNode

WATCH, UNWATCH = "author_submitAndWatchExtrinsic", "author_unwatchExtrinsic"
HEADS = {"chain_subscribeNewHeads": "chain_newHead", "chain_subscribeFinalizedHeads": "chain_finalizedHead"}
QUIET = (UNWATCH, "chain_unsubscribeNewHeads", "chain_unsubscribeFinalizedHeads")


class LoopServer:
    """Serves one node; `calls` is every method that came in, in order."""

    def __init__(self, node: LoopNode) -> None:
        self.node = node
        self.calls: list[str] = []
        self.connections = 0
        self.defects: list[Exception] = []
        self.url = ""
        self._numbers = itertools.count(1)
        self._heads: dict[str, tuple[str, asyncio.Queue[str]]] = {}
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._open: set[ServerConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def drop_all(self) -> None:
        """Cut every connection without a goodbye."""

        def cut() -> None:
            for connection in list(self._open):
                connection.transport.abort()

        self._loop.call_soon_threadsafe(cut)

    async def run(self, ready: threading.Event, block_seconds: float | None) -> None:
        self.node.on_block = lambda: self._loop.call_soon_threadsafe(self._tell_heads)
        async with serve(self._talk, "127.0.0.1", 0, process_request=self._greet, max_size=None) as server:
            self.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            while not self._stop.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), block_seconds)
                if block_seconds is not None and not self._stop.is_set():
                    await asyncio.to_thread(self.node.step)
            for connection in list(self._open):
                connection.transport.abort()

    def _greet(self, connection: ServerConnection, request: Request) -> Response | None:
        status = self.node.faults.handshake_status
        if status is None:
            return None
        return Response(status, HTTPStatus(status).phrase, Headers({"Retry-After": "30"}), b"slow down")

    async def _talk(self, connection: ServerConnection) -> None:
        self.connections += 1
        self._open.add(connection)
        outgoing: asyncio.Queue[str] = asyncio.Queue()
        sender = asyncio.create_task(_send_all(connection, outgoing))
        try:
            async for message in connection:
                task = asyncio.create_task(self._serve(connection, outgoing, json.loads(message)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ConnectionClosed:
            pass
        finally:
            self._open.discard(connection)
            sender.cancel()

    async def _serve(self, connection: ServerConnection, outgoing: asyncio.Queue[str], message: Any) -> None:
        if self.node.faults.silent:
            return
        if isinstance(message, list):
            replies = [await self._reply(connection, outgoing, one) for one in message]
            outgoing.put_nowait(json.dumps([one for one in replies if one is not None]))
            return
        reply = await self._reply(connection, outgoing, message)
        if reply is not None:
            outgoing.put_nowait(json.dumps(reply))

    async def _reply(
        self, connection: ServerConnection, outgoing: asyncio.Queue[str], frame: dict[str, Any]
    ) -> dict[str, Any] | None:
        method, params, faults = frame["method"], frame.get("params") or [], self.node.faults
        self.calls.append(method)
        if faults.close_code is not None:
            await connection.close(faults.close_code, "policy")
            return None
        if faults.drop_calls.get(method, 0) > 0:
            faults.drop_calls[method] -= 1
            connection.transport.abort()
            return None
        await asyncio.sleep(faults.slow_calls.get(method, 0))
        head = {"jsonrpc": "2.0", "id": frame["id"]}
        if method in faults.call_errors:
            return {**head, "error": faults.call_errors[method]}
        try:
            result = await asyncio.to_thread(self._answer, outgoing, method, params)
        except PoolRefusal as refusal:
            return {**head, "error": refusal.error}
        except UnknownMethod:
            return {**head, "error": {"code": -32601, "message": f"Method not found: {method}"}}
        except Exception as defect:
            self.defects.append(defect)
            return {**head, "error": {"code": -32603, "message": f"Internal error: {defect!r}"}}
        if method == WATCH and faults.silent_after_watch:
            faults.silent = True
        if method == WATCH and faults.drop_submission is not None:
            connection.transport.abort()
            return None
        return {**head, "result": result}

    def _answer(self, outgoing: asyncio.Queue[str], method: str, params: list[Any]) -> Any:
        if method in QUIET:
            self._heads.pop(str(params[0]), None)
            return True
        if method not in (WATCH, *HEADS):
            return answer(self.node, method, params)
        number = f"sub-{next(self._numbers)}"
        if method in HEADS:
            self._heads[number] = HEADS[method], outgoing
        else:

            def watch(status: Any) -> None:
                self._push(outgoing, "author_extrinsicUpdate", number, status)

            self.node.submit(bytes.fromhex(params[0][2:]), watch)
        return number

    def _push(self, outgoing: asyncio.Queue[str], name: str, number: str, result: Any) -> None:
        frame = {"jsonrpc": "2.0", "method": name, "params": {"subscription": number, "result": result}}
        self._loop.call_soon_threadsafe(outgoing.put_nowait, json.dumps(frame))

    def _tell_heads(self) -> None:
        for number, (name, outgoing) in list(self._heads.items()):
            block = self.node.finalized if name == "chain_finalizedHead" else self.node.head
            self._push(outgoing, name, number, write_header(self.node, block))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)


async def _send_all(connection: ServerConnection, outgoing: asyncio.Queue[str]) -> None:
    with suppress(ConnectionClosed):
        while True:
            await connection.send(await outgoing.get())


@contextmanager
def serve_node(node: LoopNode, block_seconds: float | None = None) -> Iterator[LoopServer]:
    """The node on a free port of the loopback; with `block_seconds` it makes blocks by itself."""
    server, ready = LoopServer(node), threading.Event()
    thread = threading.Thread(target=lambda: server._loop.run_until_complete(server.run(ready, block_seconds)))
    thread.start()
    try:
        assert ready.wait(60)
        yield server
    finally:
        server.stop()
        thread.join(10)
        server._loop.close()
    assert server.defects == [], f"the node itself failed: {server.defects}"
