"""What only a real server can show: replays, false sizes and lax forms, none of which is remembered."""

import json
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from network.loopback import ALICE, open_nonces, serve_app, serve_miner
from network.raw_http import BOB, ask_body, connect, is_cut, read_reply, say, signed_pairs, write_ask
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding

SIGNED = ("X-Bittensor-Version", "X-Bittensor-Hotkey", "X-Bittensor-Receiver", "X-Bittensor-Nonce",
          "X-Bittensor-Signature", "X-Bittensor-Crypto")  # fmt: skip


class Counted:
    """A handler that knows how often it was called."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, task: dict[str, Any], seconds: float) -> Any:
        self.calls += 1
        return {}


def remembered(folder: Path) -> int:
    with sqlite3.connect(folder / "nonces.sqlite") as db:
        return int(db.execute("SELECT COUNT(*) FROM nonces").fetchone()[0])


def code_of(reply: tuple[int, bytes]) -> tuple[int, str]:
    return reply[0], reply[1].decode().removeprefix('{"error":"').removesuffix('"}')


REPLAYED = (401, "replayed")


def test_a_replay_is_refused_on_the_same_and_on_another_connection(tmp_path: Path) -> None:
    handler, request = Counted(), write_ask()
    with serve_miner(handler, tmp_path) as endpoint:
        with connect(endpoint) as caller:
            caller.sendall(request)
            assert read_reply(caller)[0] == 200
            caller.sendall(request)
            assert code_of(read_reply(caller)) == REPLAYED
        assert code_of(say(endpoint, request)) == REPLAYED
    assert (handler.calls, remembered(tmp_path)) == (1, 1)


def test_a_replay_is_refused_after_a_restart(tmp_path: Path) -> None:
    handler, request = Counted(), write_ask()
    for expected in (200, 401, 401):
        with serve_miner(handler, tmp_path) as endpoint:
            assert say(endpoint, request)[0] == expected
    assert handler.calls == 1


def test_after_a_restart_with_its_store_lost_a_server_refuses_what_it_cannot_know(tmp_path: Path) -> None:
    handler, request = Counted(), write_ask()
    with serve_miner(handler, tmp_path / "first") as endpoint:
        assert say(endpoint, request)[0] == 200
    policy = SenderPolicy(PolicySettings())
    policy.update({ALICE.address: SenderStanding(True, 1)})
    from weighbeam.network.nonces import NonceStore

    nonces = NonceStore(tmp_path / "second" / "nonces.sqlite")
    with serve_app(make_miner_app(BOB, {"chunking": handler}, nonces, policy)) as endpoint:
        assert code_of(say(endpoint, request)) == (401, "stale")
    nonces.close()
    assert handler.calls == 1


def test_of_two_workers_asked_the_same_at_once_one_answers(tmp_path: Path) -> None:
    handler = Counted()
    with (
        serve_miner(handler, tmp_path) as first,
        serve_miner(handler, tmp_path) as second,
        ThreadPoolExecutor() as pool,
    ):
        for number in range(1, 6):
            request = write_ask()
            replies = list(pool.map(lambda endpoint, sent=request: code_of(say(endpoint, sent))[0], (first, second)))
            assert sorted(replies) == [200, 401]
            assert (handler.calls, remembered(tmp_path)) == (number, number)


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("same", [True, False], ids=["same value", "other value"])
def test_a_doubled_header_is_refused(tmp_path: Path, name: str, same: bool) -> None:
    body = ask_body()
    pairs = signed_pairs(body)
    value = dict(pairs).get(name, "sr25519")
    pairs = [pair for pair in pairs if pair[0] != name] + [(name, value), (name.lower(), value if same else "x")]
    refuse(tmp_path, write_ask(pairs, body), "malformed_auth")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("X-Bittensor-Nonce", lambda value: "+" + value),
        ("X-Bittensor-Nonce", lambda value: "0" + value),
        ("X-Bittensor-Nonce", lambda value: value[0] + "_" + value[1:]),
        ("X-Bittensor-Nonce", lambda value: value + ".0"),
        ("X-Bittensor-Nonce", lambda value: value[:-1] + "²"),
        ("X-Bittensor-Nonce", lambda value: value + ", " + value),
        ("X-Bittensor-Version", lambda value: "01"),
        ("X-Bittensor-Signature", lambda value: "0x" + value[2:].upper()),
        ("X-Bittensor-Signature", lambda value: value[2:]),
        ("X-Bittensor-Hotkey", lambda value: value.lower()),
    ],
)
def test_forms_that_laxer_verifiers_take_are_refused(tmp_path: Path, name: str, change: Any) -> None:
    body = ask_body()
    pairs = [(other, change(value) if other == name else value) for other, value in signed_pairs(body)]
    refuse(tmp_path, write_ask(pairs, body), "malformed_auth")


def refuse(folder: Path, request: bytes, code: str) -> None:
    """This request is refused with `code` and not remembered, and its server still takes a sound one."""
    handler = Counted()
    with serve_miner(handler, folder) as endpoint:
        assert code_of(say(endpoint, request)) == (401, code)
        assert (handler.calls, remembered(folder)) == (0, 0)
        assert say(endpoint, write_ask())[0] == 200


@pytest.mark.parametrize(
    "target", ["/weighbeam/1/chunking/ask?", "/weighbeam/1/chunking/ask?x=1", "/weighbeam/1/%63hunking/ask"]
)
def test_the_target_is_taken_from_the_request_line(tmp_path: Path, target: str) -> None:
    """A route that leads to the same handler is still another target."""
    request = write_ask().replace(b"POST /weighbeam/1/chunking/ask ", f"POST {target} ".encode(), 1)
    handler = Counted()
    with serve_miner(handler, tmp_path) as endpoint:
        reply = code_of(say(endpoint, request))
    assert (reply, handler.calls) == ((401, "bad_signature"), 0)


def in_chunks(body: bytes) -> bytes:
    parts = [body[start : start + 1000] for start in range(0, len(body), 1000)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


TOO_LARGE = (413, "too_large")


def test_a_body_over_the_cap_is_refused_whatever_it_declares(tmp_path: Path) -> None:
    body = ask_body() + b" " * 20_000
    pairs = signed_pairs(body)
    handler = Counted()
    with serve_miner(handler, tmp_path, max_bytes=10_000) as endpoint:
        assert code_of(say(endpoint, write_ask(pairs, body))) == TOO_LARGE
        start = time.monotonic()
        assert code_of(say(endpoint, write_ask([*pairs, ("Content-Length", "999999999999")], b""))) == TOO_LARGE
        assert time.monotonic() - start < 15
        short = say(endpoint, write_ask([*pairs, ("Content-Length", "10")], body))
        assert short[0] in (400, 401)
    assert (handler.calls, remembered(tmp_path)) == (0, 0)


@pytest.mark.parametrize("more", [[], [("Content-Length", "10")]], ids=["alone", "with a length"])
@pytest.mark.parametrize("spelling", ["Transfer-Encoding", "transfer-ENCODING"])
def test_a_chunked_body_is_refused_and_its_connection_closed(
    tmp_path: Path, more: list[tuple[str, str]], spelling: str
) -> None:
    """Even one that is signed and within the cap."""
    body = ask_body()
    request = write_ask([*signed_pairs(body), *more, (spelling, "chunked")], in_chunks(body))
    handler = Counted()
    with serve_miner(handler, tmp_path) as endpoint, connect(endpoint) as caller:
        caller.sendall(request)
        status, told = read_reply(caller)
        assert (status, json.loads(told)["error"]) == (411, "length_required")
        assert is_cut(caller)
        assert say(endpoint, write_ask())[0] == 200
    assert (handler.calls, remembered(tmp_path)) == (1, 1)


def test_a_chunked_request_behind_another_is_refused_too(tmp_path: Path) -> None:
    body = ask_body()
    chunked = write_ask([*signed_pairs(body), ("Transfer-Encoding", "chunked")], in_chunks(body))
    with serve_miner(Counted(), tmp_path) as endpoint, connect(endpoint) as caller:
        caller.sendall(write_ask() + chunked)
        replies = b"".join(iter(lambda: caller.recv(65536), b""))
    assert (replies.count(b"HTTP/1.1 200"), replies.count(b"HTTP/1.1 411")) == (1, 1)


def test_tiny_chunks_of_a_stranger_hold_up_nobody(tmp_path: Path) -> None:
    """43,000 chunks in a read took 0.25 s of the event loop, for each read and connection."""
    head = b"POST /weighbeam/1/chunking/ask HTTP/1.1\r\nHost: miner\r\nTransfer-Encoding: chunked\r\n\r\n"
    flood = head + b"1\r\nx\r\n" * 40_000
    with serve_miner(Counted(), tmp_path) as endpoint, ExitStack() as stack:
        strangers = [stack.enter_context(connect(endpoint)) for _ in range(8)]
        used = time.process_time()
        with ThreadPoolExecutor(len(strangers)) as pool:
            list(pool.map(lambda caller: _send_all(caller, flood), strangers))
        assert say(endpoint, write_ask())[0] == 200
        assert time.process_time() - used < 1.0


def _send_all(caller: socket.socket, data: bytes) -> None:
    """As much as the other side takes."""
    with suppress(ConnectionError):
        caller.sendall(data)


@pytest.mark.parametrize(
    ("settings", "standing", "age"),
    [
        (PolicySettings(min_stake_rao=11), SenderStanding(True, 10), 0.0),
        (PolicySettings(), SenderStanding(True, 10), 3601.0),
        (PolicySettings(), SenderStanding(False, 10), 0.0),
    ],
    ids=["low stake", "old metagraph", "no permit"],
)
def test_policy_speaks_after_the_signature_and_before_anything_is_remembered(
    tmp_path: Path, settings: PolicySettings, standing: SenderStanding, age: float
) -> None:
    handler, nonces = Counted(), open_nonces(tmp_path / "nonces.sqlite")
    policy = SenderPolicy(settings)
    policy.update({ALICE.address: standing})
    policy.read_at -= age
    with serve_app(make_miner_app(BOB, {"chunking": handler}, nonces, policy)) as endpoint:
        request = write_ask()
        for _ in range(2):
            assert code_of(say(endpoint, request)) == (403, "not_allowed")
        assert remembered(tmp_path) == 0
        policy.settings, policy.read_at = PolicySettings(allow=frozenset({ALICE.address})), policy.now()
        assert [say(endpoint, request)[0] for _ in range(2)] == [200, 401]
    nonces.close()
    assert (handler.calls, remembered(tmp_path)) == (1, 1)
