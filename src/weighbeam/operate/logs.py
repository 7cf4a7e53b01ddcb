"""Log lines for people or for programs, on standard error."""

import json
import logging
import sys
import time

from weighbeam.settings.model import LogSection


class Lines(logging.Formatter):
    """`2026-01-31T12:00:00Z WARNING text`, one line each, whatever a text holds."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{_write_time(record.created)} {record.levelname} {_one_line(self._say(record))}"

    def _say(self, record: logging.LogRecord) -> str:
        said = record.getMessage()
        return f"{said} | {self.formatException(record.exc_info)}" if record.exc_info else said


class JsonLines(Lines):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"at": _write_time(record.created), "level": record.levelname, "text": self._say(record)})


def start_logging(section: LogSection) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if section.format == "json" else Lines())
    log = logging.getLogger("weighbeam")
    log.handlers = [handler]
    log.setLevel(section.level)
    log.propagate = False


def _write_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _one_line(text: str) -> str:
    """Control characters shown, so that no miner can write a line of its own.

    >>> _one_line("a\\nb")
    'a⏎b'
    """
    shown = text.replace("\n", "⏎")
    return "".join(c if c.isprintable() else chr(0x2400 + ord(c)) if ord(c) < 0x20 else "�" for c in shown)
