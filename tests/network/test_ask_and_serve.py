"""Validator and miner over real sockets: honest, hostile, slow, silent, replayed, forged."""

import asyncio
import gzip
import json
import sqlite3
import ssl
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from network.loopback import ALICE, BOB, CHARLIE, free_port, serve_app, serve_miner, serve_raw
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network import replies
from weighbeam.network.ask import MAX_REPLY_BYTES, Asker, AskSettings, MinerQuestion, MinerReply, Target
from weighbeam.network.miner_app import MAX_REQUEST_BYTES
from weighbeam.network.nonces import NonceClock, NonceStore
from weighbeam.network.policy import PolicySettings
from weighbeam.network.signatures import sign_reply, sign_request
from weighbeam.network.strict_json import has_few_nodes

OPEN = AskSettings(allow_private=True)


async def echo(task: dict[str, Any], seconds: float) -> Any:
    return {"chunks": [task["document"]]}


def question(deadline: float = 5.0, mechanism: str = "chunking") -> MinerQuestion:
    return MinerQuestion("r1", mechanism, "hash", {"document": "Grüße."}, deadline, "seed")


def ask_one(
    endpoint: str | None, deadline: float = 5.0, settings: AskSettings = OPEN, asker=ALICE, asked=BOB
) -> MinerReply:
    targets = [Target(asked.address, endpoint)]
    (heard,) = asyncio.run(Asker(asker, settings).ask_all(question(deadline), targets))
    return heard


def raw_request(endpoint: str, body: bytes = b"", nonce: str | None = None, **changes: Any) -> httpx2.Request:
    target = "/weighbeam/1/chunking/ask"
    body = body or json.dumps({"round": "r", "task": {"document": "d"}, "deadline_seconds": 3}).encode()
    receiver = changes.get("receiver", BOB.address)
    headers, _ = sign_request(
        changes.get("hotkey", ALICE), "POST", target, body, nonce or NonceClock().next(), receiver
    )
    return httpx2.Request("POST", f"http://{endpoint}{target}", content=body, headers=headers)


def send(request: httpx2.Request) -> tuple[int, str | None]:
    with httpx2.Client(trust_env=False) as client:
        response = client.send(request)
        return response.status_code, response.json().get("error")


def test_an_honest_miner_is_heard(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        heard = ask_one(endpoint)
    assert (heard.status, heard.reason) == ("ok", None)
    assert heard.payload == {"chunks": ["Grüße."]}
    assert 0 < heard.seconds < 30


def test_seconds_are_the_miner_s_and_not_the_queue_s(tmp_path: Path) -> None:
    async def slow(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(0.3)
        return {}

    with serve_miner(slow, tmp_path) as endpoint:
        settings = AskSettings(allow_private=True, per_address=1)
        targets = [Target(BOB.address, endpoint)] * 3
        start = time.monotonic()
        heard = asyncio.run(Asker(ALICE, settings).ask_all(question(), targets))
        whole = time.monotonic() - start
    assert all(reply.seconds >= 0.3 for reply in heard)
    assert sum(reply.seconds for reply in heard) <= whole, "one after the other, and no wait counts twice"


def test_the_deadline_ends_everything(tmp_path: Path) -> None:
    async def never(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(60)

    with serve_miner(never, tmp_path) as endpoint:
        start = time.monotonic()
        heard = ask_one(endpoint, deadline=0.5)
    assert heard.status in ("timeout", "error")
    assert time.monotonic() - start < 20


def test_a_reply_that_trickles_ends_at_the_deadline() -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(200):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    with serve_raw(trickle) as endpoint:
        assert ask_one(endpoint, deadline=0.6).status == "timeout"


def test_a_gigabyte_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
            sent += 1

    with serve_raw(flood) as endpoint:
        heard = ask_one(endpoint, deadline=10)
    assert heard.status == "too_large"
    assert sent < 60


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", "error"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "error"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "malformed"),
        (b"garbage bytes, no HTTP at all\r\n\r\n", "malformed"),
        (b"HTTP/1.1 401 No\r\nContent-Length: 26\r\n\r\n{\"error\":\"wrong_receiver\"}", "unreachable"),
        (b"", "malformed"),
    ],
    ids=["redirect", "fault", "unsigned", "cut", "garbage", "not ours", "silence"],
)  # fmt: skip
def test_whatever_comes_back_has_a_status(reply: bytes, status: str) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()

    with serve_raw(talk) as endpoint:
        assert ask_one(endpoint).status == status


def signing_app(make_body, hotkey=BOB, **extra_headers: str):
    """A miner whose reply is signed properly, whatever it says."""

    async def app(scope, receive, send_event) -> None:
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        given = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        from weighbeam.network.signatures import encode_request

        payload = encode_request(
            "sr25519", "POST", scope["raw_path"].decode(), body, given["x-bittensor-nonce"], ALICE.address, BOB.address
        )
        reply = make_body(json.loads(body))
        headers = sign_reply(hotkey, 200, reply, payload, NonceClock().next(), ALICE.address) | extra_headers
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        raw.append((b"content-length", b"%d" % len(reply)))
        await send_event({"type": "http.response.start", "status": 200, "headers": raw})
        await send_event({"type": "http.response.body", "body": reply})

    return app


def right(asked: dict[str, Any]) -> bytes:
    return json.dumps({"round": asked["round"], "payload": {}}).encode()


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        (signing_app(right, hotkey=CHARLIE), "wrong_sender"),
        (signing_app(lambda _: b"{not json"), "json"),
        (signing_app(lambda _: b'{"round": "r1", "round": "r1", "payload": {}}'), "json"),
        (signing_app(lambda _: b'{"round": "r1", "payload": NaN}'), "json"),
        (signing_app(lambda _: b'{"round": "r1", "payload": 1e999}'), "json"),
        (signing_app(lambda _: b'{"round": "r1", "payload": ' + b"[" * 40 + b"]" * 40 + b"}"), "json"),
        (signing_app(lambda _: b'{"round": "other", "payload": {}}'), "shape"),
        (signing_app(lambda _: b"[]"), "shape"),
        (signing_app(lambda _: b'{"round": "r1", "payload": ' + b"9" * 10_000 + b"}"), "json"),
        (signing_app(lambda _: gzip.compress(b"{}"), **{"Content-Encoding": "gzip"}), "encoded"),
        (signing_app(right, **{"X-Long": "x" * 20_000}), "headers"),
    ],
)
def test_a_well_signed_reply_may_still_be_malformed(app, reason: str) -> None:
    with serve_app(app) as endpoint:
        heard = ask_one(endpoint)
    assert (heard.status, heard.reason) == ("malformed", reason)


def test_a_reply_of_too_many_values_is_too_large() -> None:
    with serve_app(signing_app(lambda _: b'{"round": "r1", "payload": [' + b"[]," * 200_000 + b"0]}")) as endpoint:
        heard = ask_one(endpoint)
    assert (heard.status, heard.reason, heard.payload) == ("too_large", "nodes", None)
    assert heard.proof is not None


def test_a_request_of_too_many_values_is_refused(tmp_path: Path) -> None:
    bomb = b'{"round": "r", "deadline_seconds": 3, "task": {"a": [' + b"[]," * 300_000 + b"0]}}"
    with serve_miner(echo, tmp_path, max_bytes=1 << 20) as endpoint:
        assert send(raw_request(endpoint, body=bomb)) == (413, "too_large")


def test_nobody_there(tmp_path: Path) -> None:
    assert ask_one(None).reason == "no_endpoint"
    heard = ask_one(f"127.0.0.1:{free_port()}")
    assert (heard.status, heard.reason) == ("unreachable", "connect")


@pytest.mark.parametrize(
    "endpoint",
    [
        "127.0.0.1:80", "10.0.0.1:80", "[::1]:80", "169.254.169.254:80", "http://localhost:80", "0.0.0.0:80",
        "ftp://8.8.8.8:80", "8.8.8.8:99999", "http://user@8.8.8.8:80", "http://8.8.8.8/path", "", "::::",
        "a" * 64 + ".com:80", "a..b:80", "１２７.0.0.1:9", "1.2.3.4:²",
    ],
)  # fmt: skip
def test_private_and_odd_addresses_are_not_dialled(endpoint: str) -> None:
    heard = ask_one(endpoint, settings=AskSettings())
    assert (heard.status, heard.reason) == ("unreachable", "bad_address")


def test_one_address_with_another_hotkey_is_not_the_miner_we_asked(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        heard = ask_one(endpoint, asked=CHARLIE)
    assert (heard.status, heard.reason) == ("unreachable", "wrong_receiver")


def test_strangers_and_validators_without_permit_are_refused(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        assert send(raw_request(endpoint, hotkey=CHARLIE)) == (403, "not_allowed")
        from weighbeam.network.keys import Hotkey

        assert send(raw_request(endpoint, hotkey=Hotkey.from_uri("//Mallory"))) == (403, "not_allowed")
    with serve_miner(echo, tmp_path, settings=PolicySettings(deny=frozenset([ALICE.address]))) as endpoint:
        assert send(raw_request(endpoint)) == (403, "not_allowed")
    with serve_miner(echo, tmp_path, known=False) as endpoint:
        assert send(raw_request(endpoint)) == (403, "not_allowed")


def test_a_replayed_request_is_refused_also_after_a_restart_and_by_another_worker(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        fresh = NonceClock().next()
        assert send(raw_request(endpoint, nonce=fresh))[0] == 200
        assert send(raw_request(endpoint, nonce=fresh)) == (401, "replayed")
        with serve_miner(echo, tmp_path) as second:
            assert send(raw_request(second, nonce=fresh)) == (401, "replayed")
    with serve_miner(echo, tmp_path) as endpoint:
        assert send(raw_request(endpoint, nonce=fresh)) == (401, "replayed")


def test_a_lost_nonce_store_refuses_what_it_cannot_know(tmp_path: Path) -> None:
    store = NonceStore(tmp_path / "nonces.sqlite", now=lambda: 100_000_000_000)
    assert store.is_blind(101_999_999_999)
    assert not store.is_blind(102_000_000_000)
    store.remember(BOB.address, "1")
    store.close()
    known = NonceStore(tmp_path / "nonces.sqlite", now=lambda: 100_000_000_000)
    assert not known.is_blind(5)


def test_the_rate_is_limited_per_sender(tmp_path: Path) -> None:
    settings = PolicySettings(per_minute=1, burst=3)
    with serve_miner(echo, tmp_path, settings=settings) as endpoint:
        codes = [send(raw_request(endpoint))[0] for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]


def test_a_sender_beyond_its_rate_writes_no_nonces(tmp_path: Path) -> None:
    """Each took a few milliseconds, in which nobody else was served."""
    settings = PolicySettings(per_minute=0.001, burst=1)
    with serve_miner(echo, tmp_path, settings=settings) as endpoint:
        assert [send(raw_request(endpoint))[0] for _ in range(5)] == [200, 429, 429, 429, 429]
        with closing(sqlite3.connect(tmp_path / "nonces.sqlite")) as nonces:
            assert nonces.execute("SELECT COUNT(*) FROM nonces").fetchone() == (1,)


def test_a_third_task_of_one_sender_waits_outside(tmp_path: Path) -> None:
    async def slow(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(2.0)
        return {}

    with serve_miner(slow, tmp_path) as endpoint:
        settings = AskSettings(allow_private=True, per_address=9)
        heard = asyncio.run(Asker(ALICE, settings).ask_all(question(), [Target(BOB.address, endpoint)] * 3))
    assert sorted(reply.status for reply in heard) == ["error", "ok", "ok"]
    assert "rate_limited" in {reply.reason for reply in heard}


def test_bodies_over_the_cap_are_refused_while_they_are_read(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, max_bytes=10_000) as endpoint:
        assert send(raw_request(endpoint, body=b"x" * 20_000)) == (413, "too_large")

        def chunked():
            for _ in range(50):
                yield b"x" * 1000

        request = httpx2.Request("POST", f"http://{endpoint}/weighbeam/1/chunking/ask", content=chunked())
        assert send(request) == (411, "length_required")


def test_requests_that_are_no_task_are_refused_and_signed(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        assert send(raw_request(endpoint, body=b"{nope")) == (400, "malformed")
        assert send(raw_request(endpoint, body=b'{"round": "r", "task": [], "deadline_seconds": 1}'))[0] == 400
        with httpx2.Client(trust_env=False) as client:
            response = client.send(raw_request(endpoint, body=b"{nope"))
        assert "x-weighbeam-reply-signature" in response.headers


def test_a_handler_that_breaks_harms_only_its_own_reply(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who asked learns nothing of it; the miner's log has the line that failed."""

    async def broken(task: dict[str, Any], seconds: float) -> Any:
        raise RuntimeError("secret detail")

    with serve_miner(broken, tmp_path) as endpoint:
        heard = ask_one(endpoint)
        assert (heard.status, heard.reason) == ("error", "500")
        with httpx2.Client(trust_env=False) as client:
            assert "secret" not in client.send(raw_request(endpoint)).text
    assert 'raise RuntimeError("secret detail")' in caplog.text


def test_nonces_of_one_process_never_repeat() -> None:
    clock = NonceClock(now=lambda: 5)
    assert [clock.next() for _ in range(3)] == ["5", "6", "7"]


def test_our_own_address_and_port_are_not_dialled(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        ours = AskSettings(allow_private=True, own_address=endpoint)
        for spelling in (endpoint, f"http://{endpoint}/", endpoint.replace("127.0.0.1", "[::ffff:127.0.0.1]")):
            heard = ask_one(spelling, settings=ours)
            assert (heard.status, heard.reason) == ("unreachable", "bad_address")
        assert ask_one(endpoint, settings=AskSettings(allow_private=True, own_address="127.0.0.1:9")).status == "ok"
    with pytest.raises(WeighbeamError, match="bad_own_address"):
        AskSettings(own_address="validator.example:8091")


def test_a_name_that_leads_nowhere_is_told_from_an_address_that_is_refused() -> None:
    heard = ask_one("miner.invalid:80", settings=AskSettings())
    assert (heard.status, heard.reason) == ("unreachable", "resolve")


def test_each_request_carries_an_id_of_its_own() -> None:
    ids: list[bytes] = []

    async def app(scope: Any, receive: Any, send_event: Any) -> None:
        ids.append(dict(scope["headers"])[b"x-weighbeam-request"])
        await send_event({"type": "http.response.start", "status": 500, "headers": []})
        await send_event({"type": "http.response.body", "body": b""})

    with serve_app(app) as endpoint:
        for _ in range(3):
            ask_one(endpoint)
    assert len(set(ids)) == 3
    assert all(len(each) >= 16 for each in ids)


def test_forty_miners_are_asked_at_once(tmp_path: Path) -> None:
    inside, everybody = 0, asyncio.Event()

    async def wait_for_all(task: dict[str, Any], seconds: float) -> Any:
        nonlocal inside
        inside += 1
        if inside == 40:
            everybody.set()
        await everybody.wait()
        return {}

    settings = PolicySettings(per_sender=100, max_tasks=100, burst=100)
    with serve_miner(wait_for_all, tmp_path, settings=settings) as endpoint:
        asker = Asker(ALICE, AskSettings(allow_private=True, per_address=100))
        heard = asyncio.run(asker.ask_all(question(30.0), [Target(BOB.address, endpoint)] * 40))
    assert {reply.status for reply in heard} == {"ok"}


def test_caps_are_the_specified_ones() -> None:
    named = {name: load_mechanism(name) for name in ("chunking", "inference", "evidence")}
    caps = {name: (one.max_request_bytes, one.max_reply_bytes) for name, one in named.items()}
    assert caps["chunking"] == (8 << 20, 16 << 20)
    assert caps["inference"] == (1 << 20, 256 << 10)
    assert caps["evidence"] == (64 << 10, 256 << 10)
    assert (Mechanism.max_request_bytes, Mechanism.max_reply_bytes) == (MAX_REQUEST_BYTES, MAX_REPLY_BYTES)


def test_limits_of_a_reply_follow_the_task() -> None:
    """16 MiB used to be read, whatever the document."""
    chunking, inference, evidence = map(load_mechanism, ("chunking", "inference", "evidence"))

    def limit(mechanism: Mechanism, **body: Any) -> tuple[int, int]:
        limits = mechanism.reply_limits(make_params(mechanism, {}), Task("t", body))
        return limits.bytes, limits.nodes

    for text in ("x" * 500, "Grüße, 世界! " * 2000, "\U0001f600 " * 30_000):
        size, nodes = limit(chunking, document=text, chunk_size=500)
        chunks = [text[i : i + 100] for i in range(0, len(text), 50)]
        reply = json.dumps({"round": "r" * 64, "payload": {"chunks": chunks}}).encode()
        assert len(reply) <= size <= 5 * len(json.dumps(text)) + 30_000 + 4 * len(text)
        assert has_few_nodes(reply, nodes)
    assert limit(inference, prompt="Why?") == (200_704, 256)
    assert limit(evidence, statement="It is.") == (167_936, 576)
    assert limit(Mechanism()) == (1 << 20, 1 << 17)


def test_a_reply_that_is_slow_to_parse_costs_its_rivals_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is parsed while anybody is still being timed."""
    parsed_at: list[float] = []
    answered_at: list[float] = []
    real = replies.parse_strict

    def note_parse(data: bytes, **limits: int) -> Any:
        parsed_at.append(time.monotonic())
        return real(data, **limits)

    async def later(task: dict[str, Any], seconds: float) -> Any:
        await asyncio.sleep(0.3)
        answered_at.append(time.monotonic())
        return {}

    monkeypatch.setattr(replies, "parse_strict", note_parse)
    with serve_miner(echo, tmp_path) as quick, serve_miner(later, tmp_path / "b", hotkey=CHARLIE) as late:
        targets = [Target(BOB.address, quick), Target(CHARLIE.address, late)]
        heard = asyncio.run(Asker(ALICE, OPEN).ask_all(question(), targets))
    assert [reply.status for reply in heard] == ["ok", "ok"]
    assert len(parsed_at) == 2
    assert min(parsed_at) > answered_at[0]


def test_an_asker_s_own_limits_are_its_own_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async def exhausted(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Asker, "_exchange", exhausted)
    assert ask_one("127.0.0.1:9").status == "validator_error"

    async def broken_tls(*_: object, **__: object) -> None:
        raise ssl.SSLError(1, "bad record")

    monkeypatch.setattr(Asker, "_exchange", broken_tls)
    assert ask_one("127.0.0.1:9").status == "unreachable"
