"""The OpenAI-compatible narrator against a real HTTP server on loopback that behaves well, badly and not at all."""

import asyncio
import gzip
import json
import logging
import threading
import time
from typing import Any

import pytest

from senses.chat_server import (
    Behaviour,
    ChatHandler,
    ChatServer,
    complete,
    flood,
    hang,
    hang_up,
    hang_up_midway,
    say,
    send,
    send_html,
    serve_chat,
    trickle_body,
    trickle_headers,
)
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.chat.clients import MAX_NARRATOR_TOKENS, OpenAINarrator
from weighbeam.senses.ports.protocols import NarrationRequest

REQUEST = NarrationRequest("You tell.", "<<<begin facts>>>")
KEY = "sk-very-secret-0123456789"


def tell(server: ChatServer, seconds: float = 20.0, key: str | None = KEY) -> str:
    return OpenAINarrator("teller", server.url, key, seconds).tell(REQUEST)


def send_packed(handler: ChatHandler) -> None:
    handler.reply(200, gzip.compress(json.dumps(complete("Told.")).encode()), content_encoding="gzip")


def test_the_request_is_what_the_specification_says(monkeypatch) -> None:
    monkeypatch.setenv("WEIGHBEAM_NARRATOR_KEY", KEY)
    with serve_chat(say("Three miners were asked.")) as server:
        narrator = OpenAINarrator("teller", server.url)
        assert narrator.tell(REQUEST) == "Three miners were asked."
    assert server.requests == [
        {
            "model": "teller",
            "messages": [{"role": "system", "content": REQUEST.system}, {"role": "user", "content": REQUEST.data}],
            "temperature": 0,
            "max_tokens": MAX_NARRATOR_TOKENS,
        }
    ]
    headers = {name.lower(): value for name, value in server.headers[0].items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept-encoding"] == "identity"
    assert narrator.id == f"openai:teller@{server.url}"


@pytest.mark.parametrize(
    "stumbles",
    [
        [send({"error": "x"}, 500), send({"error": "x"}, 503)],
        [send({"error": "x"}, 429, retry_after="0.1")],
        [hang_up],
        [hang_up_midway],
    ],
    ids=["500 and 503", "429", "hung up", "hung up midway"],
)
def test_a_server_that_stumbles_is_asked_again(stumbles: list[Behaviour]) -> None:
    with serve_chat(*stumbles, say("Told.")) as server:
        assert tell(server) == "Told."
    assert len(server.requests) == len(stumbles) + 1


@pytest.mark.parametrize(
    ("behave", "why"),
    [
        (send({"error": {"message": f"no such key {KEY}"}}, 401), "answered 401"),
        (send({}, 302, location="http://127.0.0.1:9/v1"), "answered 302"),
        (send_html, "not JSON"),
        (send([1]), "exactly one choice"),
        (send({**complete("a"), "choices": []}), "exactly one choice"),
        (send({**complete("a"), "choices": complete("a")["choices"] * 2}), "exactly one choice"),
        (send({"choices": [{"message": "told"}]}), "no message"),
        (send({"choices": [{"message": {"content": ["told"]}}]}), "no text"),
        (say(""), "no text"),
        (say(" \n"), "no text"),
        (say(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]), "tool"),
        (say("Half a senten", finish="length"), "did not finish"),
        (say(None, finish="content_filter"), "content filter"),
        (say("Half a", finish="content_filter"), "content filter"),
        (say(f"My key is {KEY}."), "holds the key"),
        (lambda handler: handler.reply(200, b"[" * 100_000), "not JSON"),
        (lambda handler: handler.reply(200, b"\xff\xfe\x00"), "not JSON"),
        (send_packed, "TooLarge"),
    ],
)  # fmt: skip
def test_a_reply_that_is_no_text_is_a_fault_by_name(behave: Behaviour, why: str) -> None:
    with serve_chat(behave) as server, pytest.raises(WeighbeamError, match="narrator_fault") as caught:
        tell(server)
    assert why in caught.value.message
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [200, 400])
def test_a_reply_without_end_is_given_up_early(status: int) -> None:
    with serve_chat(flood(status)) as server, pytest.raises(WeighbeamError, match="TooLarge"):
        tell(server)
    assert getattr(server, "sent", 0) < 20_000_000


@pytest.mark.parametrize("behave", [hang, trickle_body, trickle_headers, send({}, 429, retry_after="25")])
def test_the_deadline_holds_whatever_the_server_does(behave: Behaviour) -> None:
    start = time.monotonic()
    with serve_chat(behave) as server, pytest.raises(WeighbeamError, match=r"no reply within 0\.5 s"):
        tell(server, seconds=0.5)
    assert time.monotonic() - start < 15.0


def test_retries_share_the_deadline() -> None:
    start = time.monotonic()
    with serve_chat(send({}, 500), hang) as server, pytest.raises(WeighbeamError, match="no reply within 3 s"):
        tell(server, seconds=3.0)
    assert time.monotonic() - start < 15.0
    assert len(server.requests) == 2, "a limit for each would leave time for a third"


def test_a_resolver_that_hangs_does_not_hold_the_caller(monkeypatch) -> None:
    released = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: released.wait(30))
    start = time.monotonic()
    with pytest.raises(WeighbeamError, match="no reply within"):
        OpenAINarrator("teller", "http://narrator.test/v1", KEY, 0.5).tell(REQUEST)
    assert time.monotonic() - start < 15.0
    released.set()


def test_a_server_that_is_gone_is_named() -> None:
    with serve_chat(hang) as server:
        url = server.url
    with pytest.raises(WeighbeamError, match=r"narrator_fault.*the connection failed.*check the narrator's address"):
        OpenAINarrator("teller", url, KEY).tell(REQUEST)


def test_it_can_be_called_beside_a_running_loop() -> None:
    async def call(server: ChatServer) -> str:
        return await asyncio.to_thread(tell, server)

    with serve_chat(say("Told.")) as server:
        assert asyncio.run(call(server)) == "Told."


@pytest.mark.parametrize("behave", [say("Told."), send({"error": KEY}, 400), send({"error": KEY}, 500), hang_up])
def test_the_key_is_nowhere(behave: Behaviour, caplog, capfd) -> None:
    caplog.set_level(logging.DEBUG)
    shown = ""
    with serve_chat(behave) as server:
        narrator = OpenAINarrator("teller", server.url, KEY, 3.0)
        try:
            shown = narrator.tell(REQUEST)
        except WeighbeamError as fault:
            shown = f"{fault} {fault!r} {fault.remedy} {fault.__cause__}"
    printed: Any = capfd.readouterr()
    assert KEY not in shown + narrator.id + repr(narrator) + caplog.text + printed.out + printed.err


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("ftp://host/v1", KEY),
        ("host:80/v1", KEY),
        ("http://user:word@host/v1", KEY),
        ("http://host/v1?key=x", KEY),
        ("http://[::1/v1", KEY),
        ("http://host/v1", "two words"),
        ("http://host/v1", "ключ"),
        ("http://host/v1", "line\n"),
    ],
)
def test_an_address_or_key_that_would_leak_is_refused(url: str, key: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_narrator") as caught:
        OpenAINarrator("teller", url, key)
    assert key not in str(caught.value)
    assert "word@" not in str(caught.value)
