"""Parse in processes of their own, which can be ended; a few are kept, so that a page costs no start of one."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from weighbeam.senses.pages.ends import Ended, TooLarge, Unreadable
from weighbeam.senses.pages.frames import receive_frame, send_frame
from weighbeam.senses.pages.limits import ParserLimits
from weighbeam.senses.pages.parse import Parsed

WORKERS = 2
NEEDED = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG")
PAGES_EACH = 500
KNOWN_BODY = b"<title>Known</title><p>Light is <b>fast</b>.</p><p hidden>no</p>"
KNOWN_TEXT = "Light is fast."


class ParserLost(Exception):
    """No parser could be started."""


class Worker:
    """One process, and what is left of its life."""

    def __init__(self, limits: ParserLimits) -> None:
        self._seconds = limits.wall_seconds
        self._left = PAGES_EACH
        command = [sys.executable, "-P", "-m", "weighbeam.senses.pages.worker", json.dumps(asdict(limits))]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_plain_environment(),
            )
        except OSError as fault:
            raise ParserLost(str(fault)) from None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        return self._left > 0 and self._process.poll() is None

    def ask(self, request: bytes) -> bytes:
        """The answer; `Unreadable` if the process ends or has to be ended first."""
        self._left -= 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        timer = threading.Timer(self._seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            send_frame(self._process.stdin, request)
            return receive_frame(self._process.stdout)
        except (OSError, EOFError):
            self.end()
            raise Unreadable("parser") from None
        finally:
            timer.cancel()

    def end(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()


class Parsers:
    """Parses in up to `workers` processes at once; who comes when all are busy waits. It may be used by any thread."""

    def __init__(self, limits: ParserLimits | None = None, workers: int = WORKERS) -> None:
        self.limits = limits or ParserLimits()
        self.workers = workers
        self._idle: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)

    def parse(self, body: bytes, content_type: str, robots: str = "") -> Parsed:
        """Read a body; `TooLarge` or `Unreadable` beyond the limits, `ParserLost` if no process can be had."""
        about = json.dumps({"content_type": content_type, "robots": robots})
        worker = self._idle.get()
        try:
            if worker is None or not worker.usable:
                if worker is not None:
                    worker.end()
                    worker = None
                worker = Worker(self.limits)
            reply = worker.ask(about.encode() + b"\n" + body)
        finally:
            self._idle.put(worker)
        return _read_reply(json.loads(reply))

    def works(self) -> bool:
        """Whether a known page is read as it should be."""
        try:
            return self.parse(KNOWN_BODY, "text/html").text == KNOWN_TEXT
        except (Ended, ParserLost):
            return False

    def close(self) -> None:
        """End the processes. Wait for whoever parses at the moment."""
        workers = [self._idle.get() for _ in range(self.workers)]
        for worker in workers:
            if worker is not None:
                worker.end()
            self._idle.put(None)


def _plain_environment() -> dict[str, str]:
    """What a Python needs to start, and none of the validator's keys."""
    return {name: os.environ[name] for name in NEEDED if name in os.environ}


def _read_reply(reply: dict[str, Any]) -> Parsed:
    if "ended" in reply:
        raise TooLarge(reply["why"]) if reply["ended"] == "too_large" else Unreadable(reply["why"])
    spans = tuple((int(begin), int(end)) for begin, end in reply.pop("user_spans"))
    return Parsed(**{**reply, "headings": tuple(reply["headings"])}, user_spans=spans)
