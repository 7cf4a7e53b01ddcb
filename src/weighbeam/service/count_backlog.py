"""What waits, and what is wrong now, in numbers for Prometheus: read from the store when asked."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.notices import RANKS, list_notices
from weighbeam.engine.organic import count_waiting as count_requests
from weighbeam.engine.outbox import count_waiting
from weighbeam.store.database import Store


class Backlog(Collector):
    """The same from every process that shares the store; one looks at a time, and nothing if it cannot be read."""

    def __init__(self, store: Store, mechanisms: Sequence[str] = ()) -> None:
        self._store = store
        self._mechanisms = mechanisms
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        try:
            with self._lock:
                yield from [self._tell_requests(), self._tell_outbox(), self._tell_notices()]
        except WeighbeamError as fault:
            tell_fault(fault)

    def _tell_requests(self) -> Metric:
        asked = GaugeMetricFamily("weighbeam_requests_waiting", "organic requests waiting", labels=["mechanism"])
        for mechanism, count in {**dict.fromkeys(self._mechanisms, 0), **count_requests(self._store)}.items():
            asked.add_metric([mechanism], count)
        return asked

    def _tell_outbox(self) -> Metric:
        waiting = GaugeMetricFamily("weighbeam_outbox_waiting", "things still to be done or sent", labels=["kind"])
        counts: Counter[str] = Counter()
        for kind, count in count_waiting(self._store).items():
            counts[kind.partition(":")[0]] += count
        for kind, count in (counts or {"alerts": 0}).items():
            waiting.add_metric([kind], count)
        return waiting

    def _tell_notices(self) -> Metric:
        notices = GaugeMetricFamily("weighbeam_notices_open", "what is wrong and not over", labels=["level"])
        counts = Counter(notice.level for notice in list_notices(self._store))
        for level in RANKS:
            notices.add_metric([level], counts[level])
        return notices
