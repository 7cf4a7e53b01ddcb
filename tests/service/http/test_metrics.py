"""Requests in numbers: by template whatever is asked for, streams while they are open, and what waits in the store."""

import asyncio
import re
import time
from pathlib import Path

import httpx2
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from starlette.exceptions import HTTPException

from engine.small_subnet import START, Turned, make_chain, make_runner, make_runtime, observe_example, play
from network.loopback import serve_app
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.port import FaultSwitches
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.outbox.queue import insert_item as put
from weighbeam.engine.requests.organic import enqueue_request
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.runtime import restore_blocks, weigh_once
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.service.http.metrics import add_metrics, count_validator
from weighbeam.store.database import Store


def make_app(registry: CollectorRegistry, free: asyncio.Event | None = None) -> FastAPI:
    app, router = FastAPI(), APIRouter(prefix="/v1")
    add_metrics(app, registry)

    @router.get("/miners/{hotkey:path}/scores")
    def tell(hotkey: str) -> str:
        if hotkey == "bad":
            raise HTTPException(404)
        if hotkey == "worse":
            raise RuntimeError
        return hotkey

    @app.get("/events")
    async def stream() -> StreamingResponse:
        async def events():
            yield "data: 1\n\n"
            await asyncio.sleep(60)

        return StreamingResponse(events(), media_type="text/event-stream")

    app.include_router(router)
    return app


def read(registry: CollectorRegistry, name: str) -> dict[str, float]:
    lines = generate_latest(registry).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)}


def test_a_request_is_counted_by_its_template_never_by_its_path() -> None:
    registry = CollectorRegistry()
    with serve_app(make_app(registry)) as where, httpx2.Client(base_url=f"http://{where}") as client:
        for path in ("a", "b/c", "d" * 500, "%2e%2e", "bad"):
            client.get(f"/v1/miners/{path}/scores")
        client.get("/v1/miners/worse/scores", headers={"Connection": "close"})
        client.post("/v1/miners/a/scores")
        for path in ("/nowhere", "/nowhere/else", "/v1"):
            client.get(path)
        client.request("BREW", "/nowhere")
    counted = read(registry, "weighbeam_http_requests_total")
    route = 'route="/v1/miners/{hotkey:path}/scores"'
    assert counted == {
        f'weighbeam_http_requests_total{{method="GET",{route},status="2xx"}}': 4,
        f'weighbeam_http_requests_total{{method="GET",{route},status="4xx"}}': 1,
        f'weighbeam_http_requests_total{{method="GET",{route},status="5xx"}}': 1,
        f'weighbeam_http_requests_total{{method="POST",{route},status="4xx"}}': 1,
        'weighbeam_http_requests_total{method="GET",route="unknown",status="4xx"}': 3,
        'weighbeam_http_requests_total{method="other",route="unknown",status="4xx"}': 1,
    }
    assert sum(read(registry, "weighbeam_http_request_seconds_count").values()) == 11


def test_a_stream_is_open_until_it_is_left() -> None:
    registry = CollectorRegistry()
    with serve_app(make_app(registry)) as where, httpx2.Client(base_url=f"http://{where}", timeout=30) as client:
        with client.stream("GET", "/events") as response:
            lines = response.iter_lines()
            assert next(lines) == "data: 1"
            assert read(registry, "weighbeam_http_streams_open") == {"weighbeam_http_streams_open": 1}
        for _ in range(500):
            if read(registry, "weighbeam_http_streams_open") == {"weighbeam_http_streams_open": 0}:
                break
            time.sleep(0.02)
        assert read(registry, "weighbeam_http_streams_open") == {"weighbeam_http_streams_open": 0}
        assert (
            read(registry, "weighbeam_http_request_seconds_sum")['weighbeam_http_request_seconds_sum{route="/events"}']
            < 10
        )


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=30), max_size=20))
def test_no_caller_can_grow_the_metrics(paths: list[str]) -> None:
    registry = CollectorRegistry()
    app = make_app(registry)

    async def ask(path: str) -> None:
        scope = {"type": "http", "method": path[:4] or "GET", "path": f"/{path}", "headers": [], "query_string": b""}

        async def receive() -> dict:
            return {"type": "http.disconnect"}

        async def send(_: dict) -> None:
            pass

        await app(scope, receive, send)

    for path in paths:
        asyncio.run(ask(path))
    assert len(read(registry, "weighbeam_http_requests_total")) <= 4


def test_what_waits_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    store, registry = Store(f"sqlite:///{tmp_path / 'journal.db'}"), CollectorRegistry()
    alerts = Alerts(store, Turned().now)
    count_validator(registry, Health(60.0), alerts, store, [Chunking()])
    waiting = 'weighbeam_requests_waiting{mechanism="chunking"}'
    assert read(registry, "weighbeam_requests_waiting") == {waiting: 0}
    assert read(registry, "weighbeam_outbox_waiting") == {'weighbeam_outbox_waiting{kind="alerts"}': 0}
    enqueue_request(store, Chunking(), ChunkingParams(), {"document": "A b. C d.", "chunk_size": 100}, START)
    with store.write() as connection:
        for receiver in ("notice:json-1", "notice:json-2"):
            put(connection, receiver, "r", "", START, {})
    alerts.tell("clock_skew", "warning", "skew", "chunking")
    assert read(registry, "weighbeam_requests_waiting") == {waiting: 1}
    assert read(registry, "weighbeam_outbox_waiting") == {'weighbeam_outbox_waiting{kind="notice"}': 2}
    assert read(registry, "weighbeam_notices_open") == {
        'weighbeam_notices_open{level="info"}': 0,
        'weighbeam_notices_open{level="warning"}': 1,
        'weighbeam_notices_open{level="critical"}': 0,
    }
    store.close()


def test_blocks_since_our_weights_start_anew_when_they_land_and_go_on_with_time(senses, tmp_path: Path) -> None:
    clock, store = Turned(), Store(f"sqlite:///{tmp_path / 'journal.db'}")
    observed = observe_example(senses)
    file = make_chain(tmp_path, {answer.hotkey: "127.0.0.1:8000" for answer in observed[0].answers})
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    runtime.health.now = clock.now
    play(runner.weigh_in_context.journal, observed, "r1", clock.at)
    registry = CollectorRegistry()
    count_validator(registry, runtime.health, runtime.alerts)

    def count() -> float:
        return read(registry, "weighbeam_blocks_since_update")['weighbeam_blocks_since_update{mechanism="chunking"}']

    asyncio.run(weigh_once(runtime, runner))
    assert count() == 0
    clock.at += 1200
    assert count() == 100
    advance(file, 90)
    runner.weigh_in_context.chain.faults = FaultSwitches(refuse_with="NeuronNoValidatorPermit")
    asyncio.run(weigh_once(runtime, runner))
    assert count() == 90
    again = make_runtime(store, clock)
    again.health.now = clock.now
    clock.at += 120
    restore_blocks(again, runner)
    assert again.health.report()["mechanisms"]["chunking"]["blocks_since_update"] == 100
    runner.weigh_in_context.chain.faults = FaultSwitches(unreachable=True)
    asyncio.run(weigh_once(runtime, runner))
    assert count() == 100
    store.close()


def test_the_table_says_what_is_served(tmp_path: Path) -> None:
    store, registry = Store(f"sqlite:///{tmp_path / 'journal.db'}"), CollectorRegistry()
    count_validator(registry, Health(60.0), Alerts(store, Turned().now), store, [Chunking()])
    add_metrics(FastAPI(), registry)
    served = set(re.findall(r"^# TYPE (\w+) (?!unknown)", generate_latest(registry).decode(), re.M))
    page = (Path(__file__).parents[3] / "docs/reference/metrics.md").read_text("utf-8")
    told = {one for one in served if not one.endswith("_created")}
    assert {"weighbeam_http_requests_total", "weighbeam_notices_open"} <= told
    assert [one for one in told if f"`{one}`" not in page] == []
    store.close()
