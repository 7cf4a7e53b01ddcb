"""Log lines on standard error, as text or JSON, with secrets removed."""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, MutableMapping
from functools import partial
from types import TracebackType
from typing import Any, TextIO

from weighbeam.app.redaction import Redactor, make_redactor
from weighbeam.app.settings.sections import LogSection

Fields = MutableMapping[str, Any]
OTHERS_LEVEL = logging.WARNING
"""Messages of libraries are logged from this level on."""
COLOURS = {"DEBUG": "2", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}
MAX_LINE = 64_000


def start_logging(section: LogSection, secrets: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Start logging: Weighbeam's lines from the level set, libraries' from WARNING."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(make_formatter(section, make_redactor(secrets), _is_colourful(handler.stream)))
    ours, root = logging.getLogger("weighbeam"), logging.getLogger()
    ours.handlers, root.handlers = [handler], [handler]
    ours.setLevel(section.level)
    root.setLevel(OTHERS_LEVEL)
    ours.propagate = False
    logging.captureWarnings(True)
    logging.raiseExceptions = False
    sys.excepthook = _log_crash
    threading.excepthook = lambda told: _log_crash(told.exc_type, told.exc_value, told.exc_traceback)


class OneLineFormatter(logging.Formatter):
    """A record that cannot be formatted is reported without its content."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        try:
            return self._inner.format(record)
        except Exception as fault:
            told = {"msg": f"a log line could not be formatted: {type(fault).__name__}", "name": record.name}
            return self._inner.format(logging.makeLogRecord({**told, "levelname": "ERROR", "levelno": logging.ERROR}))


def make_formatter(section: LogSection, redactor: Redactor, colourful: bool) -> logging.Formatter:
    from structlog.processors import ExceptionRenderer
    from structlog.stdlib import ExtraAdder, ProcessorFormatter

    render = _format_json if section.format == "json" else partial(_format_text, colourful)
    processors: list[Any] = [_gather, partial(_hide, redactor), _cut, render]
    return OneLineFormatter(
        ProcessorFormatter(foreign_pre_chain=[ExtraAdder(), ExceptionRenderer()], processors=processors)
    )


def _gather(_: Any, __: str, event: Fields) -> Fields:
    """Time, level and text first, whatever fields there are after them."""
    record: logging.LogRecord = event.pop("_record")
    event.pop("_from_structlog", None)
    text, trace, stack = event.pop("event"), event.pop("exception", None), event.pop("stack_info", None)
    fields = {key: value for key, value in event.items() if value is not None}
    said = " | ".join(str(part) for part in (text, trace, stack) if part)
    head = {"at": _format_time(record.created), "level": record.levelname, "text": said}
    return {**fields, **head, **({} if record.name == "weighbeam" else {"logger": record.name})}


def _hide(redactor: Redactor, _: Any, __: str, event: Fields) -> Fields:
    """Hide secrets in everything except time and level."""
    ours = {key: event[key] for key in ("at", "level")}
    rest = {key: value for key, value in event.items() if key not in ours}
    return {**ours, **redactor.hide_all(rest)}


def _cut(_: Any, __: str, event: Fields) -> Fields:
    """Cut a value after secrets are removed, so that no part of one remains."""
    return {**event, "text": event["text"][:MAX_LINE]}


def _format_json(_: Any, __: str, event: Fields) -> str:
    return json.dumps(event)


def _format_text(colourful: bool, _: Any, __: str, event: Fields) -> str:
    """`2026-01-31T12:00:00Z WARNING text`."""
    level, colour = str(event["level"]), COLOURS.get(str(event["level"]))
    shown = f"\x1b[{colour}m{level}\x1b[0m" if colourful and colour else level
    source = f"{event['logger']}: " if "logger" in event else ""
    return f"{event['at']} {shown} {_one_line(source + str(event['text']))}"


def _log_crash(kind: type[BaseException], fault: BaseException | None, trace: TracebackType | None) -> None:
    """Uncaught exceptions are logged too, because a traceback may hold a secret."""
    if issubclass(kind, KeyboardInterrupt) or fault is None:
        return
    logging.getLogger("weighbeam").critical("%s | remedy: report it", kind.__name__, exc_info=(kind, fault, trace))


def _is_colourful(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _one_line(text: str) -> str:
    """Control characters shown, so that no miner can write a line of its own.

    >>> _one_line("a\\nb")
    'a⏎b'
    """
    shown = text.replace("\n", "⏎")
    return "".join(c if c.isprintable() else chr(0x2400 + ord(c)) if ord(c) < 0x20 else "�" for c in shown)
