"""Whether the cluster can be relied on, told once when that changes."""

import logging
import threading
from collections.abc import Callable, Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.cluster.messages import Status
from weighbeam.senses.cluster.settings import tell_differs

LOG = logging.getLogger("weighbeam")


def log_fault(fault: WeighbeamError) -> None:
    LOG.warning("%s: %s | remedy: %s", fault.code, fault.message, fault.remedy)


def log_over(code: str) -> None:
    LOG.info("%s is over", code)


class Watch:
    """A sense is lost until one of its workers is ready again; whoever knows it as lost does not wait for it."""

    def __init__(self) -> None:
        self.on_fault: Callable[[WeighbeamError], None] = log_fault
        self.on_over: Callable[[str], None] = log_over
        self._lock = threading.Lock()
        self._lost: set[str] = set()
        self._fault: WeighbeamError | None = None
        self._differs: dict[str, str] = {}

    def listen(self, on_fault: Callable[[WeighbeamError], None], on_over: Callable[[str], None]) -> None:
        """From now on; what is wrong already is told again."""
        self.on_fault, self.on_over = on_fault, on_over
        with self._lock:
            faults = [tell_differs(text) for text in self._differs.values()]
            faults += [self._fault] if self._fault is not None and self._lost else []
        for fault in faults:
            on_fault(fault)

    def is_lost(self, key: str) -> bool:
        with self._lock:
            return key in self._lost

    def lose(self, key: str, fault: WeighbeamError) -> None:
        with self._lock:
            first = not self._lost
            self._lost.add(key)
            self._fault = fault
        if first:
            self.on_fault(fault)

    def note(self, statuses: Mapping[str, Status]) -> None:
        """What the broker said last."""
        differs = {key: status.differs for key, status in statuses.items() if status.differs is not None}
        with self._lock:
            new = [text for key, text in differs.items() if self._differs.get(key) != text]
            agreed = bool(self._differs) and not differs and bool(statuses)
            self._differs = differs if statuses else self._differs
            back = {key for key in self._lost if key in statuses and statuses[key].ready}
            self._lost -= back
            found = bool(back) and not self._lost
        for text in new:
            self.on_fault(tell_differs(text))
        if agreed:
            self.on_over("worker_differs")
        if found:
            self.on_over("cluster_lost")
