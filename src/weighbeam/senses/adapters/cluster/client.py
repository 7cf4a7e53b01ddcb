"""A Ray cluster as the senses see it: parts of work go in, bytes come out, and lost brokers are replaced."""

import hashlib
import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.broker_process import END_SECONDS, BrokerProcess
from weighbeam.senses.adapters.cluster.messages import LEFT, DoPart, DropParts, OpenPool, PoolStatus, parse_fault
from weighbeam.senses.adapters.cluster.settings import ClusterSettings, make_differs_error, make_lost_error

LOG = logging.getLogger("weighbeam")


def log_cluster_fault(fault: WeighbeamError) -> None:
    LOG.warning("%s: %s | remedy: %s", fault.code, fault.message, fault.remedy)


def log_cluster_recovery(code: str) -> None:
    LOG.info("%s is over", code)


class ClusterHealth:
    """Health of a cluster. A sense is lost until one of its workers is ready again; nobody waits for it."""

    def __init__(self) -> None:
        self.on_fault: Callable[[WeighbeamError], None] = log_cluster_fault
        self.on_over: Callable[[str], None] = log_cluster_recovery
        self._lock = threading.Lock()
        self._lost: set[str] = set()
        self._fault: WeighbeamError | None = None
        self._differs: dict[str, str] = {}

    def listen(self, on_fault: Callable[[WeighbeamError], None], on_over: Callable[[str], None]) -> None:
        """Report to a listener from now on, starting with faults that are open."""
        self.on_fault, self.on_over = on_fault, on_over
        with self._lock:
            faults = [make_differs_error(text) for text in self._differs.values()]
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

    def note(self, statuses: Mapping[str, PoolStatus]) -> None:
        """Record the broker's latest message."""
        differs = {key: status.differs for key, status in statuses.items() if status.differs is not None}
        with self._lock:
            new = [text for key, text in differs.items() if self._differs.get(key) != text]
            agreed = bool(self._differs) and not differs and bool(statuses)
            self._differs = differs if statuses else self._differs
            back = {key for key in self._lost if key in statuses and statuses[key].ready}
            self._lost -= back
            found = bool(back) and not self._lost
        for text in new:
            self.on_fault(make_differs_error(text))
        if agreed:
            self.on_over("worker_differs")
        if found:
            self.on_over("cluster_lost")


UNDER_WAY_BYTES = 32 << 20
LOOK_SECONDS = 0.2
JOIN_SECONDS = 60.0
HUNG_SECONDS = 20.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 30.0


@dataclass(eq=False, slots=True)
class ClusterCall:
    """One request of a sense: what came of each part that was sent, and the fault that ends it."""

    made: list[bytes | None]
    sent: dict[int, int] = field(default_factory=dict)
    fault: WeighbeamError | None = None


class Cluster:
    """Started when first used; may be used by any thread. A broker that ends or hangs is followed by another, which is
    sent whatever was not answered. At most 32 MB are under way at once; who has more to send waits."""

    def __init__(self, settings: ClusterSettings) -> None:
        self.settings = settings
        self.watch = ClusterHealth()
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._line: BrokerProcess | None = None
        self._opened: dict[str, OpenPool] = {}
        self._pending: dict[int, tuple[DoPart, ClusterCall]] = {}
        self._bytes = 0
        self._numbers = itertools.count()
        self._statuses: dict[str, PoolStatus] = {}
        self._news = False
        self._progress: dict[str, float] = {}
        self._size: dict[str, float] = {}
        self._refused: WeighbeamError | None = None

    def ask(
        self, terms: OpenPool, lanes: Sequence[int | None], pack: Callable[[int], bytes], end: float | None = None
    ) -> list[bytes | None]:
        """Results of the workers by part; None for parts not done in time, or by `end`. `pack` gives a
        part's payload when its turn has come. A fault of the sense itself is raised as it was there."""
        self._open(terms)
        call = ClusterCall([None] * len(lanes))
        todo = [] if self.watch.is_lost(terms.key) else list(range(len(lanes)))[::-1]
        begun, gone = time.monotonic(), False
        try:
            with self._changed:
                while (todo or call.sent) and call.fault is None and (end is None or time.monotonic() < end):
                    self._send(terms.key, call, todo, lanes, pack)
                    gone = self._is_gone(terms.key, begun)
                    if gone:
                        break
                    self._changed.wait(LOOK_SECONDS)
        finally:
            self._forget(call)
        if call.fault is not None:
            raise call.fault
        if gone and not self._closed.is_set():
            self._lose(terms.key)
        return call.made

    def find_ready(self, terms: OpenPool) -> None:
        """Wait for a first worker. `worker_differs` if one came that may not be used; if none came, all is lost."""
        self._open(terms)
        end = time.monotonic() + self.settings.patience_seconds
        with self._changed:
            while time.monotonic() < end and not self._closed.is_set():
                status = self._statuses.get(terms.key, PoolStatus())
                if status.ready:
                    return
                if status.differs is not None:
                    raise make_differs_error(status.differs)
                self._changed.wait(LOOK_SECONDS)
        self._lose(terms.key)

    def look(self) -> dict[str, float]:
        """`nodes` and `cpus` of the cluster; why it cannot be reached, if it cannot."""
        self._begin()
        end = time.monotonic() + self.settings.patience_seconds
        with self._changed:
            while not self._size and self._refused is None and time.monotonic() < end:
                self._changed.wait(LOOK_SECONDS)
            if self._size:
                return self._size
            raise self._refused or make_lost_error(f"no answer from {self.settings.address}")

    def close(self) -> None:
        """End the broker, and with it the workers."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def count_workers(self, key: str) -> PoolStatus:
        with self._changed:
            return self._statuses.get(key, PoolStatus())

    def _open(self, terms: OpenPool) -> None:
        with self._changed:
            if terms.key not in self._opened:
                self._opened[terms.key] = terms
                if self._line is not None:
                    self._line.send(terms)
        self._begin()

    def _begin(self) -> None:
        with self._changed:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._supervise, name="cluster", daemon=True)
                self._thread.start()

    def _send(
        self, key: str, call: ClusterCall, todo: list[int], lanes: Sequence[int | None], pack: Callable[[int], bytes]
    ) -> None:
        """As much as has room. A part that never would is left to this machine."""
        while todo and (self._bytes < UNDER_WAY_BYTES):
            part = todo.pop()
            payload = pack(part)
            if len(payload) > UNDER_WAY_BYTES:
                continue
            request = DoPart(next(self._numbers), key, lanes[part], payload)
            self._pending[request.number] = request, call
            call.sent[request.number] = part
            self._bytes += len(payload)
            if self._line is not None:
                self._line.send(request)

    def _is_gone(self, key: str, begun: float) -> bool:
        moved = max(begun, self._progress.get(key, 0.0))
        return self._closed.is_set() or time.monotonic() - moved >= self.settings.patience_seconds

    def _forget(self, call: ClusterCall) -> None:
        with self._changed:
            left = tuple(number for number in call.sent if self._settle(number) is not None)
            if left and self._line is not None:
                self._line.send(DropParts(left))

    def _settle(self, number: int) -> ClusterCall | None:
        request, call = self._pending.pop(number, (None, None))
        if request is not None:
            self._bytes -= len(request.payload)
        return call

    def _lose(self, key: str) -> None:
        """Mark a sense as lost; earlier messages do not revive it."""
        with self._changed:
            self._news = False
        self.watch.lose(key, make_lost_error(self._tell(key)))

    def _tell(self, key: str) -> str:
        with self._changed:
            status = self._statuses.get(key, PoolStatus())
            if self._line is None or self._line.heard is None:
                return self._refused.message if self._refused is not None else "its broker does not answer"
            waited = f"no worker finished anything for {self.settings.patience_seconds:g} s"
            return waited if status.differs is None else f"{waited}; {status.differs}"

    def _hear(self, line: BrokerProcess, head: dict[str, Any], body: bytes) -> None:
        with self._changed:
            if line is not self._line:
                return
            if "refused" in head:
                self._refused = parse_fault(head["refused"])
            elif "status" in head:
                self._note_status(head)
            elif (call := self._settle(int(head.get("done", head.get("fault", -1))))) is not None:
                self._note_answer(call, head, body)
            self._changed.notify_all()

    def _note_status(self, head: dict[str, Any]) -> None:
        self._refused, self._size = None, head.get("cluster") or self._size
        self._statuses = {key: PoolStatus(**given) for key, given in head["status"].items()}
        self._news = True
        for key, status in self._statuses.items():
            if status.busy:
                self._progress[key] = time.monotonic()

    def _note_answer(self, call: ClusterCall, head: dict[str, Any], body: bytes) -> None:
        if "done" in head:
            call.made[call.sent.pop(head["done"])] = body
            return
        call.sent.pop(head["fault"])
        if head.get("code") != LEFT:
            call.fault = parse_fault(head)

    def _supervise(self) -> None:
        """One broker after the other; a pause that grows while they do not last."""
        pause = SHORTEST_PAUSE
        while not self._closed.is_set():
            line = self._start_line()
            if line is not None:
                self._follow(line)
                pause = SHORTEST_PAUSE if line.heard and line.heard - line.begun > HUNG_SECONDS else pause
            self._closed.wait(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)

    def _start_line(self) -> BrokerProcess | None:
        with self._changed:
            try:
                line = BrokerProcess(self.settings.address, self.settings.bounds, self._hear)
            except OSError as fault:
                self._refused = make_lost_error(f"the broker cannot be started: {fault.strerror}")
                return None
            self._line = line
            for terms in self._opened.values():
                line.send(terms)
            for number in sorted(self._pending):
                line.send(self._pending[number][0])
            return line

    def _follow(self, line: BrokerProcess) -> None:
        while not line.ended.wait(LOOK_SECONDS) and not self._closed.is_set():
            now = time.monotonic()
            silent = now - line.begun > JOIN_SECONDS if line.heard is None else now - line.heard > HUNG_SECONDS
            if silent:
                line.end()
            with self._changed:
                news, self._news = self._news, False
                statuses = dict(self._statuses)
            if news:
                self.watch.note(statuses)
        with self._changed:
            self._line, self._statuses = None, {}
        line.end(END_SECONDS if self._closed.is_set() else 0.0)


def name_pool(spec: bytes, *more: object) -> str:
    """Equal senses share a pool."""
    return hashlib.sha256(spec + repr(more).encode()).hexdigest()[:16]
