"""Traces, as a real receiver of OTLP over HTTP gets them from rounds and weigh-ins that were really played."""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from engine.small_subnet import (
    Turned,
    hear_log,
    list_faults,
    list_rounds,
    make_chain,
    make_runner,
    open_store,
    serve_miners,
)
from network.loopback import free_port, serve_app
from weighbeam.app.tracing import export_traces
from weighbeam.chain.local.blocks import advance
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.spans import trace
from weighbeam.senses.local import LocalSenses
from weighbeam.service.app import make_service_app
from weighbeam.service.http.threads import BoundedThreadPool

STAGES = {"round", "ask", "observe", "record", "commit", "score", "weigh_in", "read_chain", "submit"}
FACTS = {
    "mechanism", "round", "block", "eligible", "asked", "answered", "late", "answers", "action", "reason", "mode",
    "state",
}  # fmt: skip


class Collector:
    """What was posted to `/v1/traces`; `answer` is the status it gives."""

    def __init__(self, answer: int = 200) -> None:
        self.answer = answer
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self.heard = threading.Event()

    def list_spans(self) -> list[Any]:
        found = []
        for body in self.bodies:
            message = ExportTraceServiceRequest.FromString(body)
            found += [span for one in message.resource_spans for scope in one.scope_spans for span in scope.spans]
        return found

    def list_resources(self) -> list[dict[str, str]]:
        messages = map(ExportTraceServiceRequest.FromString, self.bodies)
        return [
            {pair.key: pair.value.string_value for pair in one.resource.attributes}
            for message in messages
            for one in message.resource_spans
        ]


@contextmanager
def collect(answer: int = 200) -> Iterator[tuple[str, Collector]]:
    collector = Collector(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.paths.append(self.path)
            collector.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(collector.answer)
            self.send_header("Content-Length", "0")
            self.end_headers()
            collector.heard.set()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", collector
        server.shutdown()


def list_facts(span: Any) -> dict[str, Any]:
    kinds = ("string_value", "int_value", "bool_value", "double_value")
    return {
        pair.key: next(getattr(pair.value, kind) for kind in kinds if pair.value.HasField(kind))
        for pair in span.attributes
    }


def play(folder: Path, senses: LocalSenses) -> list[str]:
    """A round and a weigh-in that submits, by a real runner; the rounds of the journal."""
    with serve_miners(folder, senses) as endpoints:
        store, file = open_store(folder), make_chain(folder, endpoints)
        runner = make_runner(store, file, senses, Turned())

        async def run() -> None:
            await runner.play_round()
            advance(file, 20)
            await runner.weigh_in()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                await task

        asyncio.run(run())
        assert list_faults(store) == []
        rounds = list_rounds(store)
        store.close()
        file.close()
    return rounds


def test_a_round_and_a_weigh_in_arrive_as_spans(
    tmp_path: Path, senses: LocalSenses, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collect() as (url, collector):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        with export_traces():
            (round_id,) = play(tmp_path, senses)
    assert set(collector.paths) == {"/v1/traces"}
    assert all(one["service.name"] == "weighbeam" for one in collector.list_resources())
    assert all(one["deployment.environment"] == "test" for one in collector.list_resources())
    spans = collector.list_spans()
    by_name = {span.name: span for span in spans}
    assert {span.name for span in spans} == STAGES
    below = {
        "round": ("ask", "observe", "record", "commit"),
        "commit": ("score",),
        "weigh_in": ("read_chain", "submit"),
    }
    parents = {child: parent for parent, children in below.items() for child in children}
    for child, parent in parents.items():
        assert by_name[child].parent_span_id == by_name[parent].span_id, child
        assert by_name[child].trace_id == by_name[parent].trace_id
    facts = {span.name: list_facts(span) for span in spans}
    assert facts["round"]["weighbeam.round"] == round_id
    assert facts["ask"] == {
        "weighbeam.mechanism": "chunking", "weighbeam.asked": 2, "weighbeam.answered": 2, "weighbeam.late": False,
    }  # fmt: skip
    assert facts["weigh_in"]["weighbeam.action"] == "submit"
    assert facts["submit"]["weighbeam.state"]
    named = {name for given in facts.values() for name in given}
    assert named <= {f"weighbeam.{name}" for name in FACTS}, "nothing else is told"
    assert not any(span.events for span in spans)
    words = {str(value) for given in facts.values() for value in given.values()}
    assert all(len(word) < 80 for word in words), "no text of a miner is short enough to be one of these"


def test_a_fault_is_told_by_its_code_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "a miner wrote this"
    with collect() as (url, collector):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{url}/v1/traces")
        with export_traces():
            for fault in (WeighbeamError("no_permit", secret), ValueError(secret)):
                with pytest.raises(type(fault)), trace("round", mechanism="chunking"):
                    raise fault
    assert [list_facts(span)["error.type"] for span in collector.list_spans()] == ["no_permit", "ValueError"]
    assert not any(secret.encode() in body for body in collector.bodies)


@pytest.mark.parametrize("given", [{}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_nothing_is_sent_unless_it_is_wanted(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with collect() as (url, collector):
        monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
        for name, value in ({"OTEL_EXPORTER_OTLP_ENDPOINT": url, **given} if given else {}).items():
            monkeypatch.setenv(name, value)
        with export_traces(), trace("round"):
            pass
    assert collector.bodies == []


@pytest.mark.parametrize("kind", ["gone", "refusing", "senseless"])
def test_a_collector_that_fails_touches_no_round(
    kind: str, tmp_path: Path, senses: LocalSenses, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collect(500) as (url, collector):
        urls = {"gone": f"http://127.0.0.1:{free_port()}", "refusing": url, "senseless": "no address at all"}
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", urls[kind])
        began = time.monotonic()
        with export_traces():
            rounds = play(tmp_path, senses)
            ended = time.monotonic()
        assert len(rounds) == 1
        assert time.monotonic() - ended < 15, "the process ends although nobody takes the last spans"
        assert began < ended
    assert (kind == "refusing") == bool(collector.bodies)


def test_a_tracer_that_raises_touches_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from weighbeam.engine.support import spans

    def broken(name: str) -> Any:
        raise RuntimeError(name)

    monkeypatch.setattr(spans._Tracing, "start", staticmethod(broken))
    with trace("round") as span:
        span.note(round="a")


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with hear_log() as lines, export_traces(), trace("round"):
        pass
    assert [line for line in lines if "pip install 'weighbeam[otel]'" in line] == lines


def test_the_servers_own_telemetry_stays_off(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2
    from prometheus_client import CollectorRegistry

    with collect() as (url, collector):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
        pool = BoundedThreadPool(1, 1)
        app = make_service_app(pool, CollectorRegistry())
        assert not any(app._telemetry[name] for name in ("auto_configure", "tracing", "metrics", "logs"))
        with serve_app(app) as endpoint:
            assert httpx2.get(f"http://{endpoint}/health").status_code == 200
        pool.close()
        from opentelemetry import trace as api
        from opentelemetry.sdk.trace import TracerProvider

        assert not isinstance(api.get_tracer_provider(), TracerProvider)
    assert collector.bodies == []
