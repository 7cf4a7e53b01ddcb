"""Whole rounds among miners whose replies are an attack: each has its status, and costs the others nothing."""

import asyncio
import hashlib
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from engine.small_subnet import ALICE, CHUNKING, START, list_faults, make_task, open_store, serve_miners
from network.loopback import serve_app, serve_raw
from weighbeam.engine.journal.journal import CommittedRound, Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import run_round
from weighbeam.engine.views.receipts import issue_receipt
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.miners.spoilers import spoil_replies
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.replies import verify_proof
from weighbeam.network.signatures import encode_request, sign_reply
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.blobs import select_blobs

MEGABYTE = 1_000_000
UNWANTED = "other words " * 500
NOW = NonceClock().next
EARNED_ONCE = ("replayer", "repeater")
Write = Callable[[dict[str, Any]], bytes]


def name_hotkey(name: str) -> Hotkey:
    return Hotkey.from_uri(f"//hostile//{name}")


def sign_anything(name: str, write: Write, signer: Hotkey | None = None, nonce: Callable[[], str] = NOW):
    """A miner that signs properly, whatever it says; by another key or with another nonce if given."""
    own = name_hotkey(name)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        given = {key.decode().lower(): value.decode() for key, value in scope["headers"]}
        asked = encode_request(
            "sr25519", "POST", scope["raw_path"].decode(), body, given["x-bittensor-nonce"], ALICE.address, own.address
        )
        reply = write(json.loads(body))
        headers = sign_reply(signer or own, 200, reply, asked, nonce(), ALICE.address)
        raw = [(key.encode(), value.encode()) for key, value in headers.items()]
        raw.append((b"content-length", b"%d" % len(reply)))
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send({"type": "http.response.body", "body": reply})

    return app


def answer(asked: dict[str, Any]) -> bytes:
    """The whole document as one chunk: what an honest miner might say."""
    return say({"chunks": [asked["task"]["document"]]})(asked)


def say(payload: Any) -> Write:
    return lambda asked: json.dumps({"round": asked["round"], "payload": payload}).encode()


def remember_first(write: Write) -> Write:
    """The reply to the first question is the reply to every question."""
    first: list[bytes] = []

    def replay(asked: dict[str, Any]) -> bytes:
        first.append(write(asked))
        return first[0]

    return replay


async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A gigabyte, streamed."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    for _ in range(1000):
        writer.write(b"x" * MEGABYTE)
        await writer.drain()


async def send_crumbs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Chunks of one byte."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(1000):
        writer.write(b"1\r\nx\r\n" * 10_000)
        await writer.drain()


async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte at a time, without end."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


RAW = {
    "flood": (flood, "too_large", None),
    "trickle": (trickle, "timeout", None),
    "crumbs": (send_crumbs, "malformed", "length_required"),
}
SIGNED = {
    "no-json": (lambda _: b'{"round": ', "malformed", "json"),
    "no-number": (lambda asked: answer(asked).replace(b"chunks", b"x").replace(b"[", b"[NaN,"), "malformed", "json"),
    "list": (lambda _: b"[1, 2, 3]", "malformed", "shape"),
    "other-round": (lambda asked: answer({**asked, "round": "other"}), "malformed", "shape"),
    "numbers": (say({"chunks": [1, 2.5, None]}), "ok", None),
    "nested": (say({"chunks": {"a": [[["b"]]]}}), "ok", None),
    "text": (say("chunks"), "ok", None),
    "nothing": (say(None), "ok", None),
    "bomb": (say([[]] * 5000), "too_large", "nodes"),
    "long": (say({"chunks": ["x" * 100_000]}), "too_large", None),
    "unwanted": (say({"chunks": [UNWANTED]}), "ok", "trimmed"),
}
FORGED = {
    "forger": (Hotkey.from_uri("//Mallory"), None, "wrong_sender"),
    "old-nonce": (None, lambda: str(10**18), "stale_reply"),
    "future-nonce": (None, lambda: str(4 * 10**18), "stale_reply"),
}


@pytest.fixture(scope="module")
def honest(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with serve_miners(tmp_path_factory.mktemp("miners"), senses) as endpoints:
        yield endpoints


@pytest.fixture(scope="module")
def hostile() -> Iterator[dict[str, str]]:
    """name → endpoint of every kind of hostile miner."""
    with ExitStack() as stack:
        found = {name: stack.enter_context(serve_raw(talk)) for name, (talk, _, _) in RAW.items()}
        apps = {name: sign_anything(name, write) for name, (write, _, _) in SIGNED.items()}
        apps["replayer"] = sign_anything("replayer", remember_first(answer))
        for name, (signer, nonce, _) in FORGED.items():
            apps[name] = sign_anything(name, answer, signer, nonce or NOW)
        apps["repeater"] = spoil_replies("replayer", sign_anything("repeater", answer), "chunking")
        apps["borrower"] = _borrow(sign_anything("borrower", answer))
        yield found | {name: stack.enter_context(serve_app(app)) for name, app in apps.items()}


def _borrow(app: Any) -> Any:
    """The signature of a reply, over another reply."""

    async def borrowing(scope: Any, receive: Any, send: Any) -> None:
        async def swap(event: Any) -> None:
            body = event.get("body")
            await send({**event, "body": body.replace(b"the", b"THE")} if body else event)

        await app(scope, receive, swap)

    return borrowing


def play(
    folder: Path, senses: LocalSenses, endpoints: dict[str, str], rounds: int = 1
) -> tuple[RoundContext, CommittedRound]:
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    round_context = RoundContext(CHUNKING, ChunkingParams(timeout=5.0), Journal(open_store(folder)), asker, senses)
    uids = {hotkey: uid for uid, hotkey in enumerate(sorted(endpoints))}
    places = {hotkey: Endpoint(endpoint, "btauth/1", "chain") for hotkey, endpoint in endpoints.items()}
    for number in range(rounds):
        moment = RoundStart(f"r{number}", f"s{number}", number, START + number, uids, places)
        done = asyncio.run(run_round(round_context, make_task("faults"), moment, list(uids)))
    return round_context, done


def test_each_has_its_status_and_the_honest_score_as_without_them(
    tmp_path: Path, senses: LocalSenses, honest: dict[str, str], hostile: dict[str, str]
) -> None:
    """Two rounds: the replayer (old answer, signed anew) and the repeater (old bytes) answer the first one well."""
    (tmp_path / "calm").mkdir()
    _, calm = play(tmp_path / "calm", senses, honest, rounds=2)
    named = {name_hotkey(name).address: name for name in hostile}
    everybody = honest | {hotkey: hostile[name] for hotkey, name in named.items()}
    round_context, done = play(tmp_path, senses, everybody, rounds=2)
    kept = select_round(round_context.journal.store, "r1", CHUNKING)
    heard = {named[row.hotkey]: (row.status, row.reason) for row in kept.answers if row.hotkey in named}
    told = {name: (status, reason) for name, (_, status, reason) in (RAW | SIGNED).items()}
    told |= {name: ("malformed", reason) for name, (_, _, reason) in FORGED.items()}
    assert heard.pop("repeater") in (("malformed", "stale_reply"), ("malformed", "bad_reply_signature"))
    assert heard == told | {"replayer": ("malformed", "shape"), "borrower": ("malformed", "bad_reply_signature")}
    scores = {score.hotkey: score for score in done.scored.scores}
    assert all(scores[hotkey].status != "valid" for hotkey in named)
    assert all(scores[hotkey].value == 0 for hotkey in named)
    expected = {score.hotkey: (score.status, score.value) for score in calm.scored.scores}
    assert {hotkey: (scores[hotkey].status, scores[hotkey].value) for hotkey in honest} == expected
    assert all(status == "valid" for status, _ in expected.values())
    raw = CHUNKING.weigh(round_context.params, done.standings, set(everybody)).raw
    assert sum(raw[hotkey] for hotkey, name in named.items() if name not in EARNED_ONCE) == 0
    assert list_faults(round_context.journal.store) == []


def test_a_failed_answer_leaves_its_digest_its_proof_and_a_little_text(
    tmp_path: Path, senses: LocalSenses, honest: dict[str, str], hostile: dict[str, str]
) -> None:
    own = name_hotkey("unwanted").address
    round_context, done = play(tmp_path, senses, honest | {own: hostile["unwanted"]})
    store = round_context.journal.store
    kept = select_round(store, "r0", CHUNKING)
    failed = next(answer for answer in kept.answers if answer.hotkey == own)
    sent = json.dumps({"chunks": [UNWANTED]}, separators=(",", ":")).encode()
    digest = hashlib.sha256(sent).hexdigest()
    assert failed.payload == {"trimmed": {"sha256": digest, "bytes": len(sent), "text": sent[:4096].decode()}}
    assert failed.proof is not None
    assert verify_proof(failed.proof, own, ALICE.address)
    whole = [answer for answer in kept.answers if answer.hotkey in honest]
    assert all(set(answer.payload) == {"chunks"} for answer in whole)
    assert issue_receipt(store, "r0", own, ALICE)["answer_sha256"] == digest, "of the answer as it was sent"
    with store.read() as connection:
        blobs = select_blobs(connection, connection.scalars(select(tables.blobs.c.digest)).all())
    assert not any(UNWANTED.encode() in blob for blob in blobs.values())
    assert {s.hotkey: s.reasons for s in done.scored.scores}[own] == ("new_words",)
    assert list_faults(store) == []


def test_a_gigabyte_costs_no_more_memory_than_the_cap(
    tmp_path: Path, senses: LocalSenses, honest: dict[str, str], hostile: dict[str, str]
) -> None:
    tracemalloc.start()
    try:
        play(tmp_path, senses, honest | {name_hotkey("flood").address: hostile["flood"]})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 120 * MEGABYTE
