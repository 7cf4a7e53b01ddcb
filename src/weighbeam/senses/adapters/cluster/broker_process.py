"""The broker process as its validator sees it, read and written by threads."""

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from weighbeam.senses.adapters.cluster.messages import BrokerRequest, WorkerBounds, parse_reply
from weighbeam.senses.adapters.frames import receive_frame, send_frame

NEEDED = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "HOME", "TMPDIR")
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
END_SECONDS = 8.0

OnBrokerReply = Callable[["BrokerProcess", dict[str, Any], bytes], None]


@dataclass(eq=False)
class BrokerProcess:
    """`heard` is when the broker last said something; None before it did."""

    address: str
    bounds: WorkerBounds
    hear: OnBrokerReply
    heard: float | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.begun = time.monotonic()
        self._requests: queue.SimpleQueue[BrokerRequest | None] = queue.SimpleQueue()
        settings = json.dumps({"address": self.address, **asdict(self.bounds)})
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "weighbeam.senses.adapters.cluster.broker", settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_plain_environment(),
            start_new_session=True,
        )
        for work in (self._write, self._read):
            threading.Thread(target=work, name="cluster-line", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, request: BrokerRequest) -> None:
        self._requests.put(request)

    def end(self, seconds: float = 0.0) -> None:
        """Close its input and give it so long to leave; then kill it."""
        self._requests.put(None)
        if seconds > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self._process.kill()
        self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            while (request := self._requests.get()) is not None:
                send_frame(self._process.stdin, pickle.dumps(request))
        with suppress(OSError):
            self._process.stdin.close()

    def _read(self) -> None:
        """Until it ends, or says what no broker of ours does."""
        assert self._process.stdout is not None
        with suppress(Exception):
            while True:
                head, body = parse_reply(receive_frame(self._process.stdout))
                self.heard = time.monotonic()
                self.hear(self, head, body)
        self._process.kill()
        self._process.wait()
        self._requests.put(None)
        self._process.stdout.close()
        self.ended.set()


def _plain_environment() -> dict[str, str]:
    """Environment for Python and Ray, without the validator's keys."""
    kept = {name: value for name, value in os.environ.items() if name in NEEDED or name.startswith("RAY_")}
    return kept | QUIET
