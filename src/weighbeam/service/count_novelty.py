"""The novelty desk in numbers, for Prometheus."""

import threading
from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weighbeam.core.errors import WeighbeamError
from weighbeam.novelty.desk import Desk
from weighbeam.service.front import Reply

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class CorpusSize(Collector):
    """How much there is to compare with, as it is when asked; one looks at a time, so that connections are left."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        size = GaugeMetricFamily("weighbeam_novelty_corpus_pieces", "pieces in the corpus")
        with self._lock, suppress(WeighbeamError):
            size.add_metric([], self._desk.count_pieces())
        yield size


class NoveltyCounts:
    """What this process has done since it started."""

    def __init__(self, registry: CollectorRegistry, desk: Desk) -> None:
        self._submissions = Counter(
            "weighbeam_novelty_submissions", "submissions by what came of them", ["outcome"], registry=registry
        )
        self._paid = Counter("weighbeam_novelty_paid_units", "units paid, by reward or release", registry=registry)
        self._seconds = Histogram(
            "weighbeam_novelty_submit_seconds", "time of a submission", buckets=SECONDS, registry=registry
        )
        registry.register(CorpusSize(desk))

    def note_submission(self, reply: Reply, seconds: float) -> None:
        """A refusal by its code, a repeated key as `repeated`, else the status of the receipt."""
        repeated = reply.status == 200
        outcome = reply.refusal or ("repeated" if repeated else reply.content["status"])
        self._submissions.labels(outcome).inc()
        self._seconds.observe(seconds)
        if outcome == "paid":
            self._paid.inc(reply.content["units"])

    def note_release(self, units: int) -> None:
        self._paid.inc(units)
