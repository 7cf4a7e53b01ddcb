"""Parser processes that can be stopped, and the page made of what was fetched."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from weighbeam.senses.adapters.frames import receive_frame, send_frame
from weighbeam.senses.adapters.pages.limits import ParserLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable, ReadEnded
from weighbeam.senses.adapters.pages.parsing.parse import ParsedPage
from weighbeam.senses.adapters.pages.web.fetch import Fetched
from weighbeam.senses.ports.page import Page

WORKERS = 2
NEEDED = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG")
PAGES_EACH = 500
KNOWN_BODY = b"<title>Known</title><p>Light is <b>fast</b>.</p><p hidden>no</p>"
KNOWN_TEXT = "Light is fast."


class ParserLost(Exception):
    """No parser could be started."""


class ParserProcess:
    """One process, and what is left of its life."""

    def __init__(self, limits: ParserLimits) -> None:
        self._seconds = limits.wall_seconds
        self._left = PAGES_EACH
        command = [
            sys.executable,
            "-P",
            "-m",
            "weighbeam.senses.adapters.pages.parsing.worker",
            json.dumps(asdict(limits)),
        ]
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
        """The answer; `PageUnreadable` if the process ends or has to be ended first."""
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
            raise PageUnreadable("parser") from None
        finally:
            timer.cancel()

    def end(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()


class ParserPool:
    """Parses in up to `workers` processes at once; who comes when all are busy waits. It may be used by any thread."""

    def __init__(self, limits: ParserLimits | None = None, workers: int = WORKERS) -> None:
        self.limits = limits or ParserLimits()
        self.workers = workers
        self._idle: queue.LifoQueue[ParserProcess | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)

    def parse(self, body: bytes, content_type: str, robots: str = "") -> ParsedPage:
        """Read a body; `PageTooLarge` or `PageUnreadable` beyond the limits, `ParserLost` if no process can be had."""
        about = json.dumps({"content_type": content_type, "robots": robots})
        worker = self._idle.get()
        try:
            if worker is None or not worker.usable:
                if worker is not None:
                    worker.end()
                    worker = None
                worker = ParserProcess(self.limits)
            reply = worker.ask(about.encode() + b"\n" + body)
        finally:
            self._idle.put(worker)
        return _parse_reply(json.loads(reply))

    def works(self) -> bool:
        """Whether a known page is read as it should be."""
        try:
            return self.parse(KNOWN_BODY, "text/html").text == KNOWN_TEXT
        except (ReadEnded, ParserLost):
            return False

    def close(self) -> None:
        """End the processes after the current parse."""
        workers = [self._idle.get() for _ in range(self.workers)]
        for worker in workers:
            if worker is not None:
                worker.end()
            self._idle.put(None)


def _plain_environment() -> dict[str, str]:
    """Environment for Python, without the validator's keys."""
    return {name: os.environ[name] for name in NEEDED if name in os.environ}


def _parse_reply(reply: dict[str, Any]) -> ParsedPage:
    if "ended" in reply:
        raise PageTooLarge(reply["why"]) if reply["ended"] == "too_large" else PageUnreadable(reply["why"])
    spans = tuple((int(begin), int(end)) for begin, end in reply.pop("user_spans"))
    return ParsedPage(**{**reply, "headings": tuple(reply["headings"])}, user_spans=spans)


READER_VERSION = 2


def complete_page(fetched: Fetched, parsers: ParserPool) -> Page:
    """The page; a parser that fails is the page's doing unless it fails on a known page too."""
    seconds = {"fetch": round(fetched.seconds, 6)}
    if fetched.render_seconds:
        seconds["render"] = round(fetched.render_seconds, 6)
    bare = Page(fetched.outcome, fetched.hops, seconds=seconds, fault=fetched.fault)
    if fetched.outcome != "read":
        return bare
    began = time.monotonic()
    try:
        parsed = parsers.parse(fetched.body, fetched.content_type, fetched.robots)
    except (ReadEnded, ParserLost) as end:
        outcome, why = (end.outcome, end.why) if isinstance(end, ReadEnded) else ("unreadable", "parser")
        if why == "parser" and not parsers.works():
            outcome = "fault"
        return Page(outcome, fetched.hops, bytes=len(fetched.body), seconds=bare.seconds, fault=why)
    seconds = {**seconds, "parse": round(time.monotonic() - began, 6)}
    return Page(
        outcome="read" if parsed.text else "empty",
        hops=fetched.hops,
        title=parsed.title,
        headings=parsed.headings,
        search_box=parsed.search_box,
        noindex=parsed.noindex,
        text=parsed.text,
        full=parsed.text if parsed.full is None else parsed.full,
        user_spans=parsed.user_spans,
        date=fetched.date or parsed.date,
        published=parsed.published,
        bytes=len(fetched.body),
        body_sha256=parsed.body_sha256,
        text_sha256=parsed.text_sha256,
        seconds=seconds,
    )
