"""`/health` for the service manager, `/metrics` for Prometheus."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts, log_fault
from weighbeam.engine.alerts.notices import RANKS, list_notices
from weighbeam.engine.outbox.metrics import list_shown
from weighbeam.engine.outbox.queue import count_waiting
from weighbeam.engine.requests.organic import count_waiting as count_requests
from weighbeam.engine.running.health import Health
from weighbeam.engine.weights.metrics import recall_weighed
from weighbeam.mechanism.base import Mechanism
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import SEALED_HEADERS, RequestPipeline
from weighbeam.service.http.request_metrics import RequestCounts, RequestMetricsMiddleware
from weighbeam.store.database import Store


class BacklogCollector(Collector):
    """The same from every process that shares the store; one looks at a time, and nothing if it cannot be read."""

    def __init__(self, store: Store, mechanisms: Sequence[str] = ()) -> None:
        self._store = store
        self._mechanisms = mechanisms
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        try:
            with self._lock:
                yield from [self._collect_requests(), self._collect_outbox(), self._collect_notices()]
        except WeighbeamError as fault:
            log_fault(fault)

    def _collect_requests(self) -> Metric:
        asked = GaugeMetricFamily("weighbeam_requests_waiting", "organic requests waiting", labels=["mechanism"])
        for mechanism, count in {**dict.fromkeys(self._mechanisms, 0), **count_requests(self._store)}.items():
            asked.add_metric([mechanism], count)
        return asked

    def _collect_outbox(self) -> Metric:
        waiting = GaugeMetricFamily("weighbeam_outbox_waiting", "jobs waiting in the outbox", labels=["kind"])
        counts: Counter[str] = Counter()
        for kind, count in count_waiting(self._store).items():
            counts[kind.partition(":")[0]] += count
        for kind, count in (counts or {"alerts": 0}).items():
            waiting.add_metric([kind], count)
        return waiting

    def _collect_notices(self) -> Metric:
        notices = GaugeMetricFamily("weighbeam_notices_open", "open alerts", labels=["level"])
        counts = Counter(notice.level for notice in list_notices(self._store))
        for level in RANKS:
            notices.add_metric([level], counts[level])
        return notices


STALLED = 503
NUMBERS = "text/plain; version=0.0.4"


class StoreCollector(Collector):
    """Metrics of rounds and weigh-ins in the store: they survive a restart, and are absent if it cannot be read."""

    def __init__(self, store: Store, mechanisms: Sequence[Mechanism]) -> None:
        self._store = store
        self._mechanisms = mechanisms

    def collect(self) -> Iterator[Metric]:
        try:
            yield from [*self._collect_weights(), *self._collect_rounds()]
        except WeighbeamError as fault:
            log_fault(fault)

    def _collect_rounds(self) -> Iterator[Metric]:
        for mechanism in self._mechanisms:
            for shown in list_shown(self._store, mechanism):
                family = CounterMetricFamily if shown.measure.kind == "counter" else GaugeMetricFamily
                metric = family(shown.name, shown.measure.help, labels=shown.measure.labels)
                for labels, value in shown.series.items():
                    metric.add_metric(labels, value)
                yield metric

    def _collect_weights(self) -> Iterator[Metric]:
        burnt = GaugeMetricFamily("weighbeam_burn_share", "share of the weights burnt", labels=["mechanism"])
        wanted = GaugeMetricFamily("weighbeam_burn_share_configured", "share to be burnt", labels=["mechanism"])
        dropped = GaugeMetricFamily("weighbeam_dropped_uids", "miners weighed and left with 0", labels=["mechanism"])
        churn = GaugeMetricFamily("weighbeam_rank_churn", "share of miners whose rank changed", labels=["mechanism"])
        for mechanism in self._mechanisms:
            weighed = recall_weighed(self._store, mechanism.name)
            if weighed is None:
                continue
            dropped.add_metric([mechanism.name], weighed.dropped)
            for metric, value in (
                (burnt, weighed.burn_set),
                (wanted, weighed.burn_configured),
                (churn, weighed.churn),
            ):
                if value is not None:
                    metric.add_metric([mechanism.name], value)
        yield from (burnt, wanted, dropped, churn)


class PulseCollector(Collector):
    """The pulses and the alerts' counts, as they are when asked."""

    def __init__(self, health: Health, alerts: Alerts) -> None:
        self._health = health
        self._alerts = alerts

    def collect(self) -> Iterator[Metric]:
        rounds = CounterMetricFamily("weighbeam_rounds", "rounds committed", labels=["mechanism"])
        discarded = CounterMetricFamily("weighbeam_rounds_discarded", "rounds without a result", labels=["mechanism"])
        weigh_ins = CounterMetricFamily("weighbeam_weigh_ins", "weigh-ins made", labels=["mechanism"])
        idle = GaugeMetricFamily("weighbeam_seconds_since_progress", "time since progress", labels=["mechanism"])
        blocks = GaugeMetricFamily(
            "weighbeam_blocks_since_update", "blocks since this validator's last weights", labels=["mechanism"]
        )
        for name, pulse in self._health.pulses.items():
            rounds.add_metric([name], pulse.rounds)
            discarded.add_metric([name], pulse.discarded)
            weigh_ins.add_metric([name], pulse.weigh_ins)
            idle.add_metric([name], self._health.monotonic() - pulse.advanced)
            since = self._health.count_blocks(pulse)
            if since is not None:
                blocks.add_metric([name], since)
        told = CounterMetricFamily("weighbeam_alerts", "alerts raised", labels=["code", "level"])
        for (code, level), count in self._alerts.counts.items():
            told.add_metric([code, level], count)
        yield from (rounds, discarded, weigh_ins, idle, blocks, told)


def count_validator(
    registry: CollectorRegistry,
    health: Health,
    alerts: Alerts,
    store: Store | None = None,
    mechanisms: Sequence[Mechanism] = (),
) -> None:
    """A validator in numbers; with a store, what was counted there too."""
    registry.register(PulseCollector(health, alerts))
    if store is not None:
        count_store(registry, store, mechanisms)


def count_store(registry: CollectorRegistry, store: Store, mechanisms: Sequence[Mechanism]) -> None:
    """Count rounds, weigh-ins and waiting work in the store."""
    registry.register(StoreCollector(store, mechanisms))
    registry.register(BacklogCollector(store, [mechanism.name for mechanism in mechanisms]))


def report_pulses(health: Health) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of a validator's /health."""
    report = health.report()
    return STALLED if report["status"] == "stalled" else 200, {"version": __version__, **report}


def add_metrics(app: FastAPI, registry: CollectorRegistry, pipeline: RequestPipeline | None = None) -> None:
    """In a thread of its own, for some numbers are read from the store. Every request to the app is counted.

    With a `pipeline`, only for callers that may read.
    """
    app.add_middleware(RequestMetricsMiddleware, counts=RequestCounts(registry))

    def work(caller: Caller, _: bytes) -> tuple[int, Any]:
        caller.check("read")
        return 200, generate_latest(registry)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def tell_metrics(request: Request) -> Response:
        if pipeline is None:
            return Response(await run_in_threadpool(generate_latest, registry), 200, SEALED_HEADERS, NUMBERS)
        reply = await pipeline.handle(request, work)
        return Response(reply.content, 200, SEALED_HEADERS, NUMBERS) if reply.status == 200 else reply.write()
