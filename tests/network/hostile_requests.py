"""Attacks of the hostile campaign on servers: what a caller says to a miner or to `weighbeam serve`."""

import asyncio
import contextlib
import gzip
import itertools
import json
import os
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from network.loopback import ALICE, BOB
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.signatures import sign_request

CLOCK = NonceClock()
STRANGER = Hotkey.from_uri("//Stranger")
ROUNDS = 100_000
"""Pieces of one attack at most."""
PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class Place:
    """A server under attack. `token` opens its API; None where requests are signed."""

    port: int
    path: str
    token: str | None


Talk = Callable[[Place, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Knock:
    """An attack on a server: as many connections from each of so many addresses say `talk`, again and again."""

    talk: Talk
    connections: int = 15
    addresses: int = 2
    read_bytes: int = 0
    """The receive buffer of its sockets; 0 leaves it to the system."""


def write_request(place: Place, body: bytes = b"", *more: str, method: str = "POST", signer: Hotkey = ALICE) -> bytes:
    """A whole request that the server lets in, unless `more` headers spoil it."""
    if place.token is None:
        shown = sign_request(signer, method, place.path, body, CLOCK.next(), BOB.address)[0]
    else:
        shown = {"Authorization": f"Bearer {place.token}", "Content-Type": "application/json"}
    lines = [
        f"{method} {place.path} HTTP/1.1",
        "Host: 127.0.0.1",
        *(f"{name}: {value}" for name, value in shown.items()),
    ]
    if not any(line.lower().startswith(("content-length", "transfer-encoding")) for line in more):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, *more]).encode("latin-1") + b"\r\n\r\n" + body


def write_task(inside: bytes) -> bytes:
    return b'{"round": "r", "deadline_seconds": 1, "text": "a", "task": ' + inside + b"}"


async def hear(reader: asyncio.StreamReader, seconds: float = 1.0) -> None:
    try:
        async with asyncio.timeout(seconds):
            await reader.read(65536)
    except TimeoutError:
        pass


def say(*pieces: bytes | Callable[[Place], bytes], pause: float = 0.0, then: float = 1.0) -> Talk:
    """Say these pieces, and listen for a while."""

    async def talk(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece if isinstance(piece, bytes) else piece(place))
            await writer.drain()
            await asyncio.sleep(pause)
        await hear(reader, then)

    return talk


def keep_saying(first: bytes | Callable[[Place], bytes], then: bytes, pause: float = 0.0) -> Talk:
    """Say `first`, then `then` without end."""

    async def talk(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first if isinstance(first, bytes) else first(place))
        for _ in range(ROUNDS):
            writer.write(then)
            await writer.drain()
            await asyncio.sleep(pause)

    return talk


def send_body(body: bytes, *more: str) -> Talk:
    return say(lambda place: write_request(place, body, *more))


def spoil_line(method: str, target: str, version: str = "HTTP/1.1", headers: str = "Host: 127.0.0.1\r\n") -> Talk:
    return say(f"{method} {target} {version}\r\n{headers}\r\n".encode("latin-1"))


async def write_bytewise(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for byte in write_request(place, write_task(b"{}")):
        writer.write(bytes([byte]))
        await writer.drain()
    await hear(reader)


async def stay(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await hear(reader, 60.0)


async def half_close(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(f"POST {place.path} HTTP/1.1\r\nContent-Length: 100\r\n\r\nx".encode())
    writer.write_eof()
    await hear(reader)


async def reset(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Some 500 a second in all: more are a flood below HTTP, which is the network's to stop."""
    await asyncio.sleep(0.05)
    writer.write(write_request(place, write_task(b"{}")))
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def replay(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The same signed bytes, again and again on one connection."""
    whole = write_request(place, write_task(b'{"document": "One. Two."}'))
    for _ in range(20):
        writer.write(whole)
        await writer.drain()
        await hear(reader)


async def hog(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A connection that is never let go."""
    for _ in range(ROUNDS):
        writer.write(f"GET {place.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await writer.drain()
        await hear(reader)
        await asyncio.sleep(PAUSE_SECONDS)


async def never_read(place: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Requests whose replies nobody reads."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    for _ in range(2000):
        writer.write(f"GET {place.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await writer.drain()


def sign_stale(place: Place) -> bytes:
    old = str(time.time_ns() - 3600 * 10**9)
    shown = sign_request(ALICE, "POST", place.path, b"{}", old, BOB.address)[0]
    head = "".join(f"{name}: {value}\r\n" for name, value in shown.items())
    return f"POST {place.path} HTTP/1.1\r\nHost: a\r\n{head}Content-Length: 2\r\n\r\n{{}}".encode()


def sign_badly(place: Place) -> bytes:
    return write_request(place, b"{}").replace(b"Signature: 0x", b"Signature: 0x00000000")[:-2] + b"[]"


def guess_token(place: Place) -> bytes:
    token = f"wb_{os.urandom(4).hex()}_{os.urandom(32).hex()[:43]}"
    return f"GET {place.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def head(place: Place, *lines: str) -> bytes:
    return "\r\n".join([f"POST {place.path} HTTP/1.1", "Host: a", *lines]).encode("latin-1") + b"\r\n"


def framed(*lines: str, body: bytes = b"") -> Talk:
    """A request whose framing is spoilt."""
    return say(lambda place: head(place, *lines) + b"\r\n" + body)


GZIP = gzip.compress(b"0" * (64 << 20))
HELLO = bytes.fromhex("16030100c8010000c403035f") + b"\x00" * 192
UPGRADE = "Connection: Upgrade"
KNOCKS: dict[str, Knock] = {
    "tiny chunks": Knock(keep_saying(lambda p: head(p, "Transfer-Encoding: chunked") + b"\r\n", b"1\r\nx\r\n" * 2000)),
    "1-byte writes": Knock(write_bytewise, connections=5),
    "slow headers": Knock(keep_saying(head, b"x", PAUSE_SECONDS), connections=20, addresses=5),
    "slow body": Knock(
        keep_saying(lambda p: head(p, "Content-Length: 9999") + b"\r\n", b"x", PAUSE_SECONDS),
        connections=20,
        addresses=5,
    ),
    "endless headers": Knock(keep_saying(head, b"a: b\r\n" * 1000)),
    "huge header": Knock(say(lambda p: head(p, "X-Long: " + "x" * (1 << 20)))),
    "3,000 headers": Knock(say(lambda p: head(p, *("a:b",) * 3000) + b"\r\n")),
    "empty lines": Knock(keep_saying(b"", b"\r\n" * 5000)),
    "node bomb": Knock(send_body(write_task(b'{"a": [' + b"[]," * 300_000 + b"0]}")), connections=2),
    "node bomb of numbers": Knock(send_body(write_task(b'{"a": [' + b"0," * 500_000 + b"0]}")), connections=2),
    "deep nesting": Knock(send_body(write_task(b"[" * 400_000 + b"]" * 400_000)), connections=2),
    "huge number": Knock(send_body(write_task(b"9" * 900_000)), connections=2),
    "duplicate keys": Knock(send_body(b'{"task": {}, "task": {}, "round": "r"}')),
    "many keys": Knock(send_body(b"{" + b",".join(b'"%d":0' % n for n in range(60_000)) + b"}"), connections=2),
    "bad UTF-8": Knock(send_body(b'{"task": "\xff\xfe\xc0"}' * 10)),
    "lone surrogates": Knock(send_body(write_task(b'{"document": "\\ud800 \\udfff"}'))),
    "length too short": Knock(framed("Content-Length: 1", body=b'{"task": {}}' * 100)),
    "length too long": Knock(framed("Content-Length: 100000", body=b"{}")),
    "length negative": Knock(framed("Content-Length: -1", body=b"{}")),
    "length huge": Knock(framed("Content-Length: " + "9" * 30, body=b"{}")),
    "length of many digits": Knock(framed("Content-Length: " + "1" * 10_000, body=b"{}")),
    "two lengths": Knock(framed("Content-Length: 2", "Content-Length: 3", body=b"{}x")),
    "odd lengths": Knock(framed("Content-Length: +0x2", body=b"{}")),
    "gzip bomb": Knock(send_body(GZIP, "Content-Encoding: gzip")),
    "length and chunks": Knock(
        framed("Content-Length: 4", "Transfer-Encoding: chunked", body=b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
    ),
    "disguised chunks": Knock(framed("Transfer-Encoding : chunked", body=b"0\r\n\r\n")),
    "odd encoding": Knock(framed("Transfer-Encoding: xchunked, identity", body=b"0\r\n\r\n")),
    "trailers": Knock(framed("Transfer-Encoding: chunked", "Trailer: a", body=b"1\r\nx\r\n0\r\n" + b"a: b\r\n" * 5000)),
    "folded headers": Knock(framed("X-Fold: a", " b", "\tc", "Content-Length: 0")),
    "bare line feeds": Knock(say(lambda p: f"POST {p.path} HTTP/1.1\nHost: a\nContent-Length: 0\n\n".encode())),
    "replayed request": Knock(replay, connections=5),
    "stale request": Knock(say(sign_stale, then=0.2)),
    "wrong signature": Knock(say(sign_badly, then=0.2)),
    "unregistered key": Knock(say(lambda p: write_request(p, b"{}", signer=STRANGER), then=0.2)),
    "made-up tokens": Knock(say(guess_token, then=0.2)),
    "1,000 connections": Knock(stay, connections=100, addresses=10),
    "1,000 half requests": Knock(keep_saying(head, b"", 1.0), connections=100, addresses=10),
    "pipelined requests": Knock(
        say(lambda p: f"GET {p.path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 1000), connections=5
    ),
    "half-open": Knock(half_close),
    "resets": Knock(reset),
    "HTTP/0.9": Knock(say(b"GET /\r\n\r\n")),
    "HTTP/2 preface": Knock(say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04" * 1000)),
    "HTTP/9.9": Knock(spoil_line("GET", "/", "HTTP/9.9")),
    "TLS hello": Knock(say(HELLO)),
    "noise": Knock(say(os.urandom(100_000))),
    "CONNECT": Knock(spoil_line("CONNECT", "127.0.0.1:22")),
    "TRACE": Knock(spoil_line("TRACE", "/")),
    "OPTIONS": Knock(spoil_line("OPTIONS", "*")),
    "long method": Knock(spoil_line("A" * 10_000, "/")),
    "absolute target": Knock(spoil_line("GET", "http://169.254.169.254/latest/")),
    "null bytes": Knock(spoil_line("GET", "/\x00/%00/health")),
    "long path": Knock(spoil_line("GET", "/" + "a" * 15_000)),
    "longer path": Knock(spoil_line("GET", "/" + "a" * 200_000)),
    "escapes in the path": Knock(spoil_line("GET", "/" + "%2e%2e%2f" * 1500 + "%zz%ff")),
    "long query": Knock(spoil_line("GET", "/health?" + "a=b&" * 3500)),
    "two hosts": Knock(spoil_line("GET", "/health", headers="Host: a\r\nHost: b\r\n")),
    "expect and wait": Knock(framed("Expect: 100-continue", "Content-Length: 100000")),
    "websocket": Knock(framed(UPGRADE, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")),
    "h2c upgrade": Knock(framed(UPGRADE + ", HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")),
    "slow reads": Knock(never_read, read_bytes=2048),
    "kept connections": Knock(hog, connections=15, addresses=10),
}


async def knock(attack: Knock, place: Place, seconds: float) -> None:
    """Play an attack for a while; what the server does about it is no concern here."""

    async def one(source: str) -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await visit(source)
            await asyncio.sleep(0.01)

    async def visit(source: str) -> None:
        caller = socket.socket()
        caller.setblocking(False)
        if attack.read_bytes:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, attack.read_bytes)
        caller.bind((source, 0))
        try:
            await asyncio.get_running_loop().sock_connect(caller, ("127.0.0.1", place.port))
            reader, writer = await asyncio.open_connection(sock=caller)
        except OSError:
            caller.close()
            raise
        try:
            await attack.talk(place, reader, writer)
        finally:
            writer.transport.abort()

    sources = itertools.product(range(attack.addresses), range(attack.connections))
    tasks = [asyncio.create_task(one(f"127.0.1.{number + 1}")) for number, _ in sources]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def list_knocks(names: list[str] | None) -> Iterator[tuple[str, Knock]]:
    yield from ((name, attack) for name, attack in KNOCKS.items() if names is None or name in names)


assert json.loads(write_task(b"{}"))
