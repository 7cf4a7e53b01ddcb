"""Trade with a challenge API on loopback, up and down."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response

from engine.small_subnet import HOUR, START, Turned
from network.loopback import serve_app
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.outbox import deliver
from weighbeam.engine.outbox.enqueue import enqueue_round_jobs
from weighbeam.engine.requests.challenge_api import ChallengeApi
from weighbeam.engine.requests.organic import fail_request, select_request, take_next
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Scored
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.store.database import Store

INFERENCE, PARAMS = Inference(), make_params(Inference())
NEXT = {"id": "c-1", "prompt": "Why do tides rise?", "metadata": [1]}


class Far:
    """An API: what it gives, what it got, and with which status it answers."""

    def __init__(self) -> None:
        self.next: Any = None
        self.status = 200
        self.got: list[tuple[str, str | None, Any]] = []
        self.app = FastAPI()

        @self.app.get("/api/challenges/next")
        async def give(request: Request) -> Response:
            self.got.append(("next", request.headers.get("authorization"), None))
            if self.status != 200:
                return Response(status_code=self.status)
            content = self.next if isinstance(self.next, bytes) else json.dumps(self.next).encode()
            return Response(content) if self.next is not None else Response(status_code=204)

        @self.app.post("/{kind}")
        async def take(request: Request, kind: str) -> Response:
            self.got.append((kind, request.headers.get("authorization"), await request.json()))
            return Response(status_code=self.status)


@pytest.fixture
def far() -> Iterator[tuple[Far, str]]:
    made = Far()
    with serve_app(made.app) as endpoint:
        yield made, f"http://{endpoint}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    yield opened
    opened.close()


def open_exchange(store: Store, clock: Turned, **urls: str) -> ChallengeApi:
    return ChallengeApi(store, clock, Alerts(store, clock.now), "our-hotkey", **urls)


def run_outbox(exchange: ChallengeApi) -> int:
    deliveries = {"callback": exchange.call_back, "copies": exchange.push_copies}
    return asyncio.run(deliver.deliver_due(exchange.store, exchange.clock, exchange.alerts, deliveries))


def test_a_pulled_challenge_waits_once_and_its_result_goes_back(far, store: Store) -> None:
    api, url = far
    clock = Turned()
    exchange = open_exchange(store, clock, pull_url=f"{url}/api/", callback_url=f"{url}/callback", token="t0ken")
    assert asyncio.run(exchange.pull(INFERENCE, PARAMS)) is None
    api.next = NEXT
    for _ in range(2):
        challenge = asyncio.run(exchange.pull(INFERENCE, PARAMS))
        assert (challenge.id, challenge.state) == ("c-1", "waiting")
    taken = take_next(store, "inference", "r1", 0.0)
    assert taken is not None
    assert take_next(store, "inference", "r2", 0.0) is None
    fail_request(store, taken.id, "r1", "no_valid_answer", "nobody")
    assert run_outbox(exchange) == 1
    kind, shown, content = api.got[-1]
    assert (kind, shown) == ("callback", "Bearer t0ken")
    assert content == {
        "validator": "our-hotkey",
        "id": "c-1",
        "mechanism": "inference",
        "state": "failed",
        "metadata": [1],
        "result": {"error": "no_valid_answer", "message": "nobody"},
    }
    assert run_outbox(exchange) == 0


def test_a_callback_that_fails_is_tried_until_it_works(far, store: Store) -> None:
    api, url = far
    clock = Turned()
    exchange = open_exchange(store, clock, pull_url=f"{url}/api", callback_url=f"{url}/callback")
    api.next = NEXT
    asyncio.run(exchange.pull(INFERENCE, PARAMS))
    taken = take_next(store, "inference", "r1", 0.0)
    fail_request(store, taken.id, "r1", "no_valid_answer", "nobody")
    for status in (500, 302, 404):
        api.status = status
        assert run_outbox(exchange) == 1
        clock.at += 3600
    api.status = 204
    assert run_outbox(exchange) == 1
    clock.at += 3600
    assert run_outbox(exchange) == 0
    assert [kind for kind, *_ in api.got].count("callback") == 4
    assert select_request(store, taken.id).state == "failed"


@pytest.mark.parametrize("given", [b"<html>", b"{}", b'{"id": "x", "prompt": ""}', b"[" * 10_000, b" " * (2 << 20)])
def test_whatever_the_api_sends_only_the_log_changes(far, store: Store, given: bytes, monkeypatch) -> None:
    api, url = far
    api.next = given
    clock = Turned()
    exchange = open_exchange(store, clock, pull_url=f"{url}/api")

    async def run() -> None:
        loop = asyncio.create_task(exchange.keep_pulling(INFERENCE, PARAMS, 300.0))
        while clock.at < START + 1500:
            await asyncio.sleep(0.01)
        assert not loop.done()
        loop.cancel()

    asyncio.run(run())
    assert [alert.code for alert in list_alerts(store, limit=10).items] == ["challenge_source"]
    assert take_next(store, "inference", "r1", 0.0) is None


def test_an_api_that_is_down_is_told_once_and_found_again(far, store: Store) -> None:
    api, url = far
    clock = Turned()
    exchange = open_exchange(store, clock, pull_url="http://127.0.0.1:9/api")

    async def run() -> None:
        loop = asyncio.create_task(exchange.keep_pulling(INFERENCE, PARAMS, 300.0))
        while clock.at < START + 1500:
            await asyncio.sleep(0.01)
        exchange.pull_url, api.next = f"{url}/api", NEXT
        while exchange.is_down:
            await asyncio.sleep(0.01)
        loop.cancel()

    asyncio.run(run())
    assert [alert.code for alert in list_alerts(store, limit=10).items] == ["challenge_source"]
    assert take_next(store, "inference", "r1", 0.0) is not None


def test_a_result_still_to_be_sent_outlives_retention(far, store: Store) -> None:
    api, url = far
    clock = Turned()
    exchange = open_exchange(store, clock, pull_url=f"{url}/api", callback_url="http://127.0.0.1:9/")
    api.next = NEXT
    asyncio.run(exchange.pull(INFERENCE, PARAMS))
    taken = take_next(store, "inference", "r1", 0.0)
    fail_request(store, taken.id, "r1", "no_valid_answer", "nobody")
    run_outbox(exchange)
    clock.at += 100 * HOUR
    clean_up(store, clock.now(), Averaging(), "me", lambda _: b"signed")
    exchange.callback_url = f"{url}/callback"
    assert run_outbox(exchange) == 1
    assert api.got[-1][0] == "callback"
    clean_up(store, clock.now(), Averaging(), "me", lambda _: b"signed")
    with pytest.raises(WeighbeamError, match="unknown_request"):
        select_request(store, taken.id)


def test_records_of_copies_are_pushed_and_kept(far, store: Store) -> None:
    api, url = far
    groups = [{"hotkeys": ["a", "b"], "cosine": 0.99, "overlap": 0.8}]
    exchange = open_exchange(store, Turned(), copies_url=f"{url}/copies", token="t0ken", copies_token="other")
    with store.write() as connection:
        enqueue_round_jobs(connection, "r1", START, INFERENCE, Scored((), {"copies": groups}))
    run_outbox(exchange)
    sent = [content for kind, shown, content in api.got if (kind, shown) == ("copies", "Bearer other")]
    told = {"validator": "our-hotkey", "mechanism": "inference", "round": "r1", "at": START, "copies": groups}
    assert sent == [told]
