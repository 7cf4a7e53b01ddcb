"""Events over a real server: they arrive, a stream that broke off goes on, and nobody holds up the rest."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from engine.organic_round import RECALL, START
from engine.recall import play
from service.holders import bear
from service.read_api import NAME, Api, serve_reading
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.views.changes import MAX_EVENTS, JournalEvent, NewsPosition
from weighbeam.engine.weights.audit import insert_audit
from weighbeam.service.api.events import MAX_WAITING, EventListener
from weighbeam.store import tables

Told = tuple[str, str, dict[str, Any]]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serve_reading(tmp_path, registry=CollectorRegistry(), streams=2) as found:
        yield found


class Stream:
    """A client that keeps what it is told."""

    def __init__(self, api: Api, last: str | None = None, seconds: int = 30) -> None:
        self.told: list[Told] = []
        self.lines: list[str] = []
        self.opened = threading.Event()
        headers = {**bear("reader"), **({} if last is None else {"Last-Event-ID": last})}
        self._client = httpx2.Client(timeout=30)
        self._context = self._client.stream("GET", f"{api.url}/v1/events?seconds={seconds}", headers=headers)
        threading.Thread(target=self._listen, daemon=True).start()
        assert self.opened.wait(30)

    def _listen(self) -> None:
        with suppress(httpx2.TransportError), self._context as response:
            self.status, self.kind = response.status_code, response.headers["content-type"]
            parts: dict[str, str] = {}
            for line in response.iter_lines():
                self.opened.set()
                self.lines.append(line)
                if not line and "data" in parts:
                    self.told.append((parts["id"], parts["event"], json.loads(parts["data"])))
                name, _, value = line.partition(": ")
                parts = {**parts, name: value} if line else {}
            self.opened.set()

    def wait(self, count: int, seconds: float = 30.0) -> list[Told]:
        until = time.monotonic() + seconds
        while len(self.told) < count:
            assert time.monotonic() < until, f"told only {self.told}"
            time.sleep(0.02)
        return self.told

    def close(self) -> None:
        self._client.close()


def happen(api: Api, number: int) -> None:
    """A round, an alert, a weigh-in, and a submission that moves."""
    play(Journal(api.store), RECALL, number, START + number, {"a": "tide", "b": None})
    Alerts(api.store, lambda: START).tell("stalled", "info", "<script>", NAME)
    with api.store.write() as connection:
        insert_audit(connection, START, "skip", NAME, "NORMAL", "rate_limited")
        connection.execute(tables.submissions.update().values(state=f"sent{number}"))


def test_what_happens_arrives_and_a_stream_goes_on_where_it_broke_off(api: Api) -> None:
    stream = Stream(api)
    assert (stream.status, stream.kind) == (200, "text/event-stream; charset=utf-8")
    happen(api, 50)
    told = stream.wait(4)
    assert sorted(kind for _, kind, _ in told) == ["alert", "round", "submission", "weigh_in"]
    by_kind = {kind: data for _, kind, data in told}
    assert by_kind["round"]["round"] == f"{NAME}-50"
    assert (by_kind["round"]["answers"], by_kind["round"]["valid"]) == (2, 1)
    assert by_kind["submission"]["state"] == "sent50"
    assert "script" not in "".join(stream.lines)
    stream.close()
    happen(api, 51)
    again = Stream(api, last=told[-1][0])
    names = ("round", "kind", "code", "state")
    said = [next(data[name] for name in names if name in data) for _, _, data in again.wait(4)]
    assert said == [f"{NAME}-51", "skip", "stalled", "sent51"]
    happen(api, 52)
    assert f"{NAME}-52" in [data.get("round") for _, _, data in again.wait(8)]
    assert len({(last, kind) for last, kind, _ in again.told}) == len(again.told)
    again.close()


def test_who_was_away_too_long_is_told_so(api: Api) -> None:
    alerts = Alerts(api.store, lambda: START)
    for _ in range(MAX_EVENTS + 1):
        alerts.tell("stalled", "info", "x")
    stream = Stream(api, last="0-0-0")
    ((_, kind, _),) = stream.wait(1)
    assert kind == "missed"
    stream.close()


def test_streams_are_counted_and_end_after_their_time(api: Api) -> None:
    kept = Stream(api, seconds=2)
    other = Stream(api)
    refused = api.get("/v1/events")
    assert (refused.status_code, refused.json()["error"], refused.headers["retry-after"]) == (503, "busy", "5")
    assert api.refuse("/v1/events?seconds=0") == (400, "bad_query")
    assert api.refuse("/v1/events?token=x") == (400, "bad_query")
    until = time.monotonic() + 30
    while api.get("/v1/events?seconds=1").status_code == 503:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert kept.told == []
    other.close()


def test_the_server_stops_at_once_though_streams_are_open(tmp_path: Path) -> None:
    with serve_reading(tmp_path, registry=CollectorRegistry()) as api:
        stream = Stream(api)
        began = time.monotonic()
    assert time.monotonic() - began < 10
    stream.close()


def test_a_client_that_reads_nothing_holds_up_nobody(api: Api) -> None:
    host, port = api.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        shown = bear("reader")["Authorization"]
        line.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: {shown}\r\n\r\n".encode())
        stream = Stream(api)
        happen(api, 60)
        stream.wait(4)
        stream.close()


def test_a_listener_who_does_not_keep_up_is_cut_off() -> None:
    cut: list[bool] = []
    listener = EventListener(NewsPosition(), lambda: cut.append(True))
    event = JournalEvent("alert", {"id": 1}, NewsPosition())
    listener.offer([event] * MAX_WAITING)
    assert not cut
    listener.offer([event])
    assert cut == [True]
    assert listener.is_cut
