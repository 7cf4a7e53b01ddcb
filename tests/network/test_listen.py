"""A miner's door: slow, greedy and vanishing callers over real sockets."""

import asyncio
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from network.loopback import BOB, open_nonces, serve_app, serve_miner
from network.raw_http import HEAD, connect, is_cut, read_reply, say, write_ask
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.http_server import ListenSettings, bind, limit_connections, listen
from weighbeam.network.http_server import serve_miner as serve_until_cancelled
from weighbeam.network.miner_app import ServedRequest, make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy

STRANGER = "127.0.0.2"
"""Not the address that proxies on this machine come from."""


async def echo(task: dict[str, Any], seconds: float) -> Any:
    return {"chunks": [task["document"]]}


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@contextmanager
def timed(least: float, limit: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert least <= time.monotonic() - start <= limit


@pytest.mark.parametrize("start", [b"", b"POST /weighbeam/1/chunking/ask HTTP/1.1\r\nX-Slow: "])
def test_whoever_does_not_finish_the_headers_is_cut(start: bytes) -> None:
    with serve_app(hello, ListenSettings(header_seconds=0.5)) as endpoint, connect(endpoint) as caller:
        caller.sendall(start)
        with timed(0.3, 20.0):
            assert is_cut(caller)


def test_dribbling_does_not_buy_time() -> None:
    with serve_app(hello, ListenSettings(header_seconds=0.5)) as endpoint, connect(endpoint) as caller:
        caller.sendall(HEAD)
        caller.settimeout(0.05)
        with timed(0.3, 20.0):
            assert any(is_cut_soon(caller) or not caller.send(b"x") for _ in range(100))


def is_cut_soon(caller: socket.socket) -> bool:
    try:
        return is_cut(caller)
    except TimeoutError:
        return False


def test_a_second_request_on_a_connection_is_timed_too() -> None:
    with serve_app(hello, ListenSettings(header_seconds=0.5)) as endpoint, connect(endpoint) as caller:
        caller.sendall(HEAD + b"x\r\n\r\n")
        assert read_reply(caller)[0] == 200
        caller.sendall(HEAD)
        with timed(0.3, 20.0):
            assert is_cut(caller)


def test_a_slow_task_is_no_slow_header(tmp_path: Path) -> None:
    async def slow(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(0.8)
        return {}

    with serve_miner(slow, tmp_path, limits=ListenSettings(header_seconds=0.3)) as endpoint:
        assert say(endpoint, write_ask())[0] == 200


def test_the_twenty_first_connection_of_an_address_is_refused() -> None:
    assert ListenSettings().per_address == 20
    with serve_app(hello, ListenSettings()) as endpoint, ExitStack() as stack:
        callers = [stack.enter_context(connect(endpoint, STRANGER)) for _ in range(20)]
        for caller in callers:
            caller.sendall(HEAD)
        with connect(endpoint, STRANGER) as one_more:
            assert is_cut(one_more)
        with connect(endpoint, source="127.0.0.3") as neighbour:
            neighbour.sendall(HEAD + b"x\r\n\r\n")
            assert read_reply(neighbour)[0] == 200
        callers[0].sendall(b"x\r\n\r\n")
        assert read_reply(callers[0])[0] == 200
        callers[0].close()
        assert any(is_let_in(endpoint) for _ in range(50)), "there is room again, as soon as the server has noticed"


def test_callers_behind_a_proxy_on_this_machine_do_not_share_the_limit_of_an_address() -> None:
    """The twenty-first used to be cut off."""
    with serve_app(hello, ListenSettings()) as endpoint, ExitStack() as stack:
        callers = [stack.enter_context(connect(endpoint)) for _ in range(40)]
        for caller in callers:
            caller.sendall(HEAD)
        for caller in callers:
            caller.sendall(b"x\r\n\r\n")
            assert read_reply(caller)[0] == 200


def test_a_full_server_cuts_off_whoever_keeps_it_waiting_longest() -> None:
    with serve_app(hello, ListenSettings(connections=3)) as endpoint, ExitStack() as stack:
        callers = [stack.enter_context(connect(endpoint, f"127.0.0.{number}")) for number in (2, 3, 4)]
        for caller in callers:
            caller.sendall(HEAD)
            time.sleep(0.1)
        with connect(endpoint, "127.0.0.5") as one_more:
            one_more.sendall(HEAD + b"x\r\n\r\n")
            assert read_reply(one_more)[0] == 200
            assert is_cut(callers[0])
            callers[1].sendall(b"x\r\n\r\n")
            assert read_reply(callers[1])[0] == 200


def test_a_full_server_of_busy_callers_refuses_one_more(tmp_path: Path) -> None:
    async def slow(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(60)

    with serve_miner(slow, tmp_path, limits=ListenSettings(connections=2)) as endpoint, ExitStack() as stack:
        callers = [stack.enter_context(connect(endpoint, f"127.0.0.{number}")) for number in (2, 3)]
        for caller in callers:
            caller.sendall(write_ask(seconds=60))
        time.sleep(0.5)
        with connect(endpoint, "127.0.0.5") as one_more:
            assert is_cut(one_more)


@pytest.mark.parametrize(
    ("files", "room"), [(1024, 768), (300, 150), (1 << 20, 1 << 16), (resource.RLIM_INFINITY, 1 << 16)]
)
def test_files_are_left_to_the_process_itself(monkeypatch: pytest.MonkeyPatch, files: int, room: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert limit_connections() == room


def is_let_in(endpoint: str) -> bool:
    time.sleep(0.1)
    return is_answered(endpoint, STRANGER)


@pytest.mark.parametrize("piece", [1_000_000, 1000], ids=["at once", "in pieces"])
def test_the_header_block_is_capped_however_it_comes(piece: int) -> None:
    def headers_of(size: int) -> bytes:
        return HEAD + b"x" * (size - len(HEAD) - 4) + b"\r\n\r\n"

    def tell(endpoint: str, block: bytes) -> int | None:
        with connect(endpoint) as caller:
            try:
                for start in range(0, len(block), piece):
                    caller.sendall(block[start : start + piece])
                    time.sleep(0.001)
                return read_reply(caller)[0]
            except OSError:
                return None

    with serve_app(hello, ListenSettings()) as endpoint:
        assert tell(endpoint, headers_of(16 << 10)) == 200
        assert tell(endpoint, headers_of((16 << 10) + 100)) in (400, None)
        assert tell(endpoint, headers_of(200_000)) in (400, None)
        assert tell(endpoint, headers_of(100)) == 200


def test_many_headers_and_long_targets_are_not_parsed() -> None:
    """Thirty callers with 3,000 headers each used to hold a server for a second and a half."""

    def status(raw: bytes) -> int:
        return say(endpoint, raw)[0]

    with serve_app(hello, ListenSettings()) as endpoint:
        assert status(b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 90 + b"Host: a\r\n\r\n") == 200
        assert status(b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 3000 + b"Host: a\r\n\r\n") == 400
        lines = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n" + b"\n" * 500
        assert status(lines) == 200, "lines of a body are no headers"
        assert status(b"GET /" + b"a" * 4000 + b" HTTP/1.1\r\nHost: a\r\n\r\n") == 200
        assert status(b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: a\r\n\r\n") == 400


def test_an_address_opens_so_many_connections_a_second() -> None:
    """A caller that resets each connection at once used to keep a miner busy for seconds."""
    pace = ListenSettings(per_second=5.0)
    with serve_app(hello, pace) as endpoint:
        with connect(endpoint, "127.0.0.4") as caller:
            caller.sendall((HEAD + b"x\r\n\r\n") * 30)
            said = b"".join(iter(lambda: caller.recv(65536), b""))
        assert said.count(b"200 OK") in range(9, 25), "requests on one connection are counted too"
        assert said.count(b"429 Too Many Requests") == 1
        assert [is_answered(endpoint, STRANGER) for _ in range(30)].count(True) in range(10, 25)
        assert is_answered(endpoint, "127.0.0.3"), "others have a pace of their own"
        assert all(is_answered(endpoint, "127.0.0.1") for _ in range(30)), "a proxy has many callers"


def is_answered(endpoint: str, source: str) -> bool:
    with connect(endpoint, source) as caller:
        try:
            caller.sendall(HEAD + b"x\r\n\r\n")
            return read_reply(caller)[0] == 200
        except ConnectionError:
            return False


def test_a_task_ends_when_its_asker_hangs_up(tmp_path: Path) -> None:
    started, ended = threading.Event(), threading.Event()

    async def slow(task: dict[str, Any], seconds: float) -> Any:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
            raise

    with serve_miner(slow, tmp_path, settings=PolicySettings(max_tasks=1)) as endpoint:
        for _ in range(2):
            with connect(endpoint) as caller:
                caller.sendall(write_ask(seconds=60))
                assert started.wait(30)
                assert not ended.wait(0.2)
            assert ended.wait(30), "the task outlived its asker"
            started.clear()
            ended.clear()


def test_a_body_that_never_comes_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.network.miner_app.BODY_SECONDS", 0.4)
    with serve_miner(echo, tmp_path) as endpoint, timed(0.3, 20.0):
        status, body = say(endpoint, write_ask()[:-5])
    assert (status, body) == (400, b'{"error":"malformed"}')


def test_a_body_that_is_cut_off_is_one_line_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    served: list[ServedRequest] = []
    nonces = open_nonces(tmp_path / "nonces.sqlite")
    app = make_miner_app(BOB, {"chunking": echo}, nonces, SenderPolicy(PolicySettings()), served.append)
    with serve_app(app) as endpoint:
        with connect(endpoint) as caller:
            caller.sendall(write_ask()[:-5])
            time.sleep(0.2)
        assert any(time.sleep(0.1) or served for _ in range(100)), "the server did not notice"
    nonces.close()
    assert [(one.sender, one.status, one.code) for one in served] == [(None, 499, "disconnected")]
    assert "Traceback" not in caplog.text


def test_an_address_that_is_taken_is_told() -> None:
    async def twice() -> None:
        async with listen(hello, "127.0.0.1") as (host, port), listen(hello, host, port):
            pass

    with pytest.raises(WeighbeamError, match="cannot_listen"):
        asyncio.run(twice())


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_miner_serves_until_cancelled() -> None:
    async def main() -> int:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        serving = asyncio.create_task(serve_until_cancelled(hello, "127.0.0.1", port))
        while not await asyncio.to_thread(is_open, port):
            await asyncio.sleep(0.02)
        status, _ = await asyncio.to_thread(say, f"127.0.0.1:{port}", HEAD + b"x\r\n\r\n")
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        return status

    assert asyncio.run(main()) == 200


def test_replies_on_a_kept_connection_are_not_held_back() -> None:
    """Linux hands the listener's option on to what it accepts."""
    with bind("127.0.0.1", 0) as listener:
        listener.settimeout(5)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
