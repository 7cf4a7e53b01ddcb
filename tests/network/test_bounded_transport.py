"""Miners whose replies are meant to cost the asker's time: each has its reason, and its rivals' seconds stay."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from network.loopback import ALICE, BOB, CHARLIE, serve_miner, serve_raw
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, MinerReply, Target
from weighbeam.network.bounded_transport import MAX_HEAD_BYTES, MAX_INTERIM, ReplyHead, UnboundedHead

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
INTERIM = b"HTTP/1.1 103 Early Hints\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}"
ROUNDS = 400
QUESTION = MinerQuestion("r1", "chunking", "h", {"document": "d"}, 10.0, "seed")


def talk(first: bytes, then: bytes = b"") -> Talk:
    """A server that says `first`, then `then` again and again, for a while."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(first)
        for part in repeat(then, ROUNDS if then else 0):
            writer.write(part)
            await writer.drain()

    return say


def ask(targets: list[Target]) -> list[MinerReply]:
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    return asyncio.run(asker.ask_all(QUESTION, targets))


@pytest.mark.parametrize(
    ("hostile", "told"),
    [
        (talk(CHUNKED, b"1\r\nx\r\n" * 1000), ("malformed", "length_required")),
        (talk(CHUNKED.replace(b"chunked", b"chunked\r\nContent-Length: 2")), ("malformed", "length_required")),
        (talk(INTERIM, INTERIM * 1000), ("malformed", "headers")),
        (talk(INTERIM * (MAX_INTERIM + 1) + REFUSED), ("malformed", "headers")),
        (talk(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 1000), ("malformed", "headers")),
        (talk(b"HTTP/1.1 200 OK\r\n" + b"a:b\r\n" * 200 + b"\r\n"), ("malformed", "headers")),
        (talk(INTERIM * MAX_INTERIM + REFUSED), ("error", "403")),
        (talk(REFUSED), ("error", "403")),
    ],
    ids=[
        "crumbs",
        "chunks and a length",
        "endless 103",
        "too many 103",
        "endless headers",
        "many headers",
        "some 103",
        "no 103",
    ],
)
def test_what_precedes_a_reply_is_bounded(hostile: Talk, told: tuple[str, str]) -> None:
    with serve_raw(hostile) as endpoint:
        [heard] = ask([Target(BOB.address, endpoint)])
    assert (heard.status, heard.reason) == told
    assert heard.seconds < 5


@pytest.mark.parametrize("crumbs", [(CHUNKED, b"1\r\nx\r\n"), (b"", INTERIM)], ids=["chunks", "interim replies"])
def test_crumbs_cost_a_rival_no_time(tmp_path: Path, crumbs: tuple[bytes, bytes]) -> None:
    """With twelve miners of crumbs, a rival at 0.2 s used to be measured at 1.8 s."""

    async def honest(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(0.2)
        return {}

    first, crumb = crumbs
    with serve_raw(talk(first, crumb * 10_000)) as hostile, serve_miner(honest, tmp_path) as endpoint:
        targets = [Target(CHARLIE.address, hostile)] * 12 + [Target(BOB.address, endpoint)]
        *_, rival = ask(targets)
    assert rival.status == "ok"
    assert rival.seconds < 1.0


@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_a_head_ends_where_it_ends_however_it_comes(piece: int) -> None:
    def feed(data: bytes) -> bool:
        head = ReplyHead()
        for start in range(0, len(data), piece):
            if not head.is_complete:
                head.feed(data[start : start + piece])
        return head.is_complete

    padding = b"a" * (MAX_HEAD_BYTES - len(b"HTTP/1.1 200 OK\r\nx: \r\n\r\n"))
    largest = b"HTTP/1.1 200 OK\r\nx: " + padding + b"\r\n\r\n"
    assert feed(INTERIM + REFUSED)
    assert feed(largest + b"body" * 100_000)
    assert feed(b"HTTP/1.1 200 OK\n\n")
    assert not feed(INTERIM)
    assert not feed(largest[:-1])
    with pytest.raises(UnboundedHead):
        feed(largest.replace(b"x:", b"xx:"))
    with pytest.raises(UnboundedHead):
        feed(INTERIM * (MAX_INTERIM + 1))
