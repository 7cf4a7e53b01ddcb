"""`/health` for the service manager, `/metrics` for Prometheus."""

from collections.abc import Iterator

from fastapi import FastAPI, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weighbeam import __version__
from weighbeam.engine.alerts import Alerts
from weighbeam.engine.health import Health

STALLED = 503


class Pulses(Collector):
    """The pulses and the alerts' counts, as they are when asked."""

    def __init__(self, health: Health, alerts: Alerts) -> None:
        self._health = health
        self._alerts = alerts

    def collect(self) -> Iterator[Metric]:
        rounds = CounterMetricFamily("weighbeam_rounds", "rounds committed", labels=["mechanism"])
        discarded = CounterMetricFamily(
            "weighbeam_rounds_discarded", "rounds that came to nothing", labels=["mechanism"]
        )
        weigh_ins = CounterMetricFamily("weighbeam_weigh_ins", "weigh-ins made", labels=["mechanism"])
        idle = GaugeMetricFamily("weighbeam_seconds_since_progress", "time since progress", labels=["mechanism"])
        blocks = GaugeMetricFamily("weighbeam_blocks_since_update", "blocks since our weights", labels=["mechanism"])
        for name, pulse in self._health.pulses.items():
            rounds.add_metric([name], pulse.rounds)
            discarded.add_metric([name], pulse.discarded)
            weigh_ins.add_metric([name], pulse.weigh_ins)
            idle.add_metric([name], self._health.monotonic() - pulse.advanced)
            if pulse.blocks is not None:
                blocks.add_metric([name], pulse.blocks)
        told = CounterMetricFamily("weighbeam_alerts", "alerts raised", labels=["code", "level"])
        for (code, level), count in self._alerts.counts.items():
            told.add_metric([code, level], count)
        yield from (rounds, discarded, weigh_ins, idle, blocks, told)


def make_health_app(health: Health, alerts: Alerts, registry: CollectorRegistry | None = None) -> FastAPI:
    """200 while every mechanism gets on, 503 once one stands still."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    counted = registry or CollectorRegistry()
    counted.register(Pulses(health, alerts))
    add_metrics(app, counted)

    @app.get("/health")
    async def tell_health(response: Response) -> dict[str, object]:
        report = health.report()
        response.status_code = STALLED if report["status"] == "stalled" else 200
        return {"version": __version__, **report}

    return app


def add_metrics(app: FastAPI, registry: CollectorRegistry) -> None:
    """In a thread of its own, for some numbers are read from the store."""

    @app.get("/metrics")
    def tell_metrics() -> Response:
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")
