"""A call ends in its time, whatever the other side does."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.http_call import HttpReply, call_http


@contextmanager
def serve(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def run() -> None:
            line, _ = door.accept()
            with line:
                line.recv(65536)
                with suppress(OSError):
                    behave(line)

        threading.Thread(target=run, daemon=True).start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}/"


def drip(start: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    def behave(line: socket.socket) -> None:
        line.sendall(start)
        for _ in range(200):
            time.sleep(0.05)
            line.sendall(piece)

    return behave


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "behave",
    [
        lambda _: time.sleep(10),
        drip(HEAD + b"x-slow: ", b"a"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"0"),
        drip(HEAD + b"content-length: 5000\r\n\r\n", b"a"),
    ],
)
def test_whatever_trickles_is_cut_off(behave: Callable[[socket.socket], None]) -> None:
    with serve(behave) as url:
        began = time.monotonic()
        with pytest.raises(WeighbeamError, match="call_failed"):
            call_http("GET", url, seconds=0.5)
        assert time.monotonic() - began < 9


def test_too_much_is_cut_off_and_nobody_there_is_told() -> None:
    with serve(lambda line: line.sendall(HEAD + b"\r\n" + b"a" * 100_000)) as url, pytest.raises(WeighbeamError):
        call_http("GET", url, limit=1000)
    with pytest.raises(WeighbeamError, match="call_failed"):
        call_http("GET", "http://127.0.0.1:9/")


def test_a_reply_is_given_whatever_its_status() -> None:
    with serve(lambda line: line.sendall(b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 2\r\n\r\nhi")) as url:
        assert call_http("POST", url, {"a": "\ud800"}) == HttpReply(302, b"hi")
