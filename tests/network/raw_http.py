"""HTTP by hand, for what no client library would send."""

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from network.loopback import ALICE, BOB
from weighbeam.network.nonces import NonceClock
from weighbeam.network.signatures import sign_request

TARGET = "/weighbeam/1/chunking/ask"
HEAD = f"POST {TARGET} HTTP/1.1\r\nHost: miner\r\nX-More: ".encode()
CLOCK = NonceClock()
Pairs = Sequence[tuple[str, str]]


@contextmanager
def connect(endpoint: str, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    host, port = endpoint.split(":")
    with socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0)) as caller:
        yield caller


def is_cut(caller: socket.socket) -> bool:
    """Whether the other side ends the connection without a word; waits for it."""
    try:
        return caller.recv(1) == b""
    except ConnectionError:
        return True


def read_reply(caller: socket.socket) -> tuple[int, bytes]:
    """Status and body of one reply."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = caller.recv(65536)
        if not part:
            raise ConnectionError(f"cut after {data!r}")
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while lengths and len(body) < lengths[0]:
        body += caller.recv(65536)
    return int(head.split()[1]), body


def say(endpoint: str, raw: bytes) -> tuple[int, bytes]:
    """Status and body of the reply to these bytes, on a connection of their own."""
    with connect(endpoint) as caller:
        caller.sendall(raw)
        return read_reply(caller)


def ask_body(seconds: float = 3) -> bytes:
    return json.dumps({"round": "r", "task": {"document": "d"}, "deadline_seconds": seconds}).encode()


def signed_pairs(body: bytes, nonce: str | None = None) -> list[tuple[str, str]]:
    """Alice's headers for Bob."""
    headers, _ = sign_request(ALICE, "POST", TARGET, body, nonce or CLOCK.next(), BOB.address)
    return list(headers.items())


def write_ask(pairs: Pairs | None = None, body: bytes | None = None, seconds: float = 3) -> bytes:
    """A whole request; its Content-Length is true unless `pairs` bring another framing."""
    body = ask_body(seconds) if body is None else body
    pairs = signed_pairs(body) if pairs is None else pairs
    framed = any(name.lower() in ("content-length", "transfer-encoding") for name, _ in pairs)
    lines = [f"POST {TARGET} HTTP/1.1", "Host: miner", *(f"{name}: {value}" for name, value in pairs)]
    if not framed:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
