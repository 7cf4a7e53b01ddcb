"""Attacks of the hostile campaign on a validator that asks: what a miner answers."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from network.loopback import ALICE, CHARLIE
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.signatures import encode_request, sign_reply

CLOCK = NonceClock()
MALLORY = Hotkey.from_uri("//Mallory")
HOSTILE = CHARLIE
"""The hotkey that every hostile miner is asked under."""
ADDRESSES = 3
ROUNDS = 20_000
OK = b"HTTP/1.1 200 OK\r\n"
GZIP = gzip.compress(b"0" * (64 << 20))


@dataclass
class Asked:
    """A request as a hostile miner got it."""

    head: dict[str, str]
    target: str
    body: bytes
    writer: asyncio.StreamWriter = field(repr=False)

    @property
    def round(self) -> str:
        return str(json.loads(self.body)["round"])

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()


Reply = Callable[[Asked], Awaitable[None]]


def sign(asked: Asked, body: bytes, signer: Hotkey = HOSTILE, *more: str) -> bytes:
    """A whole reply that is signed properly, whatever it says."""
    text = encode_request(
        "sr25519", "POST", asked.target, asked.body, asked.head["x-bittensor-nonce"], ALICE.address, HOSTILE.address
    )
    signed = sign_reply(signer, 200, body, text, CLOCK.next(), ALICE.address)
    lines = [*(f"{name}: {value}" for name, value in signed.items()), f"Content-Length: {len(body)}", *more]
    return OK + "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def say(*pieces: bytes) -> Reply:
    async def reply(asked: Asked) -> None:
        await asked.say(*pieces)

    return reply


def keep_saying(first: bytes, then: bytes, pause: float = 0.0) -> Reply:
    async def reply(asked: Asked) -> None:
        await asked.say(first)
        for _ in range(ROUNDS):
            await asked.say(then)
            await asyncio.sleep(pause)

    return reply


def signed(payload: bytes, *more: str) -> Reply:
    """A signed reply of the round asked."""

    async def reply(asked: Asked) -> None:
        body = b'{"round": "' + asked.round.encode() + b'", "payload": ' + payload + b"}"
        await asked.say(sign(asked, body, HOSTILE, *more))

    return reply


async def be_silent(asked: Asked) -> None:
    await asyncio.sleep(60)


async def write_bytewise(asked: Asked) -> None:
    for byte in sign(asked, b'{"round": "other", "payload": {}}'):
        await asked.say(bytes([byte]))


async def tell_another_round(asked: Asked) -> None:
    await asked.say(sign(asked, b'{"round": "other", "payload": {}}'))


async def sign_as_another(asked: Asked) -> None:
    await asked.say(sign(asked, b'{"round": "r", "payload": {}}', MALLORY))


async def sign_falsely(asked: Asked) -> None:
    await asked.say(sign(asked, b'{"round": "r", "payload": {}}').replace(b"payload", b"PAYLOAD"))


OLD: list[bytes] = []


async def repeat_old(asked: Asked) -> None:
    OLD.append(sign(asked, b'{"round": "r-0", "payload": {}}'))
    await asked.say(OLD[0])


async def send_gzip(asked: Asked) -> None:
    await asked.say(sign(asked, GZIP, HOSTILE, "Content-Encoding: gzip"))


INTERIM = b"HTTP/1.1 103 Early Hints\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
REPLIES: dict[str, Reply] = {
    "tiny chunks": keep_saying(CHUNKED, b"1\r\nx\r\n" * 2000),
    "trailers": keep_saying(CHUNKED + b"0\r\n", b"a: b\r\n" * 1000),
    "1-byte writes": write_bytewise,
    "slow headers": keep_saying(OK, b"x", 0.1),
    "slow body": keep_saying(OK + b"Content-Length: 9999\r\n\r\n", b"x", 0.1),
    "endless interim replies": keep_saying(b"", INTERIM * 1000),
    "slow interim replies": keep_saying(b"", INTERIM, 0.1),
    "endless headers": keep_saying(OK, b"a: b\r\n" * 1000),
    "3,000 headers": say(OK + b"a:b\r\n" * 3000 + b"\r\n"),
    "huge header": say(OK + b"X-Long: " + b"x" * (4 << 20) + b"\r\n\r\n"),
    "huge reason": say(b"HTTP/1.1 200 " + b"x" * (4 << 20) + b"\r\n\r\n"),
    "endless body": keep_saying(OK + b"\r\n", b"x" * 100_000),
    "node bomb": signed(b"[" + b"[]," * 20_000 + b"0]"),
    "node bomb at the limit": signed(b"[" + b"{}," * 15_000 + b"0]"),
    "deep nesting": signed(b"[" * 30_000 + b"]" * 30_000),
    "huge number": signed(b"9" * 60_000),
    "huge exponent": signed(b"1e999999999"),
    "duplicate keys": signed(b'{"a": 0, "a": 1}'),
    "bad UTF-8": signed(b'"\xff\xfe\xc0"'),
    "lone surrogates": signed(b'{"chunks": ["\\ud800"]}'),
    "length too short": say(OK + b"Content-Length: 1\r\n\r\n" + b"{}" * 5000),
    "length too long": say(OK + b"Content-Length: 5000\r\n\r\n{}"),
    "length negative": say(OK + b"Content-Length: -5\r\n\r\n{}"),
    "length huge": say(OK + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n{}"),
    "two lengths": say(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"),
    "a gigabyte": keep_saying(OK + b"Content-Length: 1000000000\r\n\r\n", b"x" * 1_000_000),
    "gzip bomb": send_gzip,
    "redirect": say(b"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:22/\r\nContent-Length: 0\r\n\r\n"),
    "wrong round": tell_another_round,
    "wrong sender": sign_as_another,
    "wrong signature": sign_falsely,
    "replayed reply": repeat_old,
    "silence": be_silent,
    "cut at once": say(),
    "HTTP/0.9": say(b"<html>hello</html>"),
    "HTTP/2 frames": say(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" * 1000),
    "TLS alert": say(b"\x15\x03\x01\x00\x02\x02\x28"),
    "switching protocols": keep_saying(
        b"HTTP/1.1 101 S\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n", b"x" * 1000, 0.01
    ),
    "null bytes": say(b"HTTP/1.1 200 OK\r\nX-\x00: \x00\r\nContent-Length: 2\r\n\r\n{}"),
    "a body where none may be": say(b"HTTP/1.1 204 No\r\nContent-Length: 9\r\n\r\n{}{}{}{}{"),
    "status 999": say(b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}"),
}


@asynccontextmanager
async def serve_hostile(reply: Reply) -> AsyncIterator[list[str]]:
    """Endpoints of a hostile miner on a few addresses."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
            head = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(head.get("content-length", "0")))
            await reply(Asked(head, first.split()[1], body, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async with AsyncExitStack() as stack:
        found: list[str] = []
        for number in range(ADDRESSES):
            server = await asyncio.start_server(talk, f"127.0.2.{number + 1}", 0)
            await stack.enter_async_context(server_until_left(server))
            found.append("{}:{}".format(*server.sockets[0].getsockname()[:2]))
        yield found


@asynccontextmanager
async def server_until_left(server: Any) -> AsyncIterator[None]:
    try:
        yield
    finally:
        server.close()
