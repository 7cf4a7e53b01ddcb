"""Spans of a round and of a weigh-in, for OpenTelemetry; nothing at all unless a tracer was set.

A span has names, counts and codes that are ours: no text of a miner, no message of an error, no hotkey, no address.
Whatever a tracer raises is swallowed, because nothing that watches a round may change it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol

from weighbeam.core.errors import WeighbeamError

Value = str | int | float | bool


class OpenSpan(Protocol):
    """The part of OpenTelemetry's span that is used here."""

    def set_attribute(self, key: str, value: Value) -> None: ...


Start = Callable[[str], AbstractContextManager[OpenSpan]]
"""Begin a span of this name, below the one that is open here."""


class Span:
    """A span to note facts on; without a tracer, notes go nowhere."""

    def __init__(self, opened: OpenSpan | None) -> None:
        self._opened = opened

    def note(self, **facts: Value | None) -> None:
        if self._opened is not None:
            for name, value in facts.items():
                with suppress(Exception):
                    if value is not None:
                        self._opened.set_attribute(f"weighbeam.{name}", value)

    def fail(self, fault: BaseException) -> None:
        """Its code alone: a message may quote a stranger."""
        code = fault.code if isinstance(fault, WeighbeamError) else type(fault).__name__
        if self._opened is not None:
            with suppress(Exception):
                self._opened.set_attribute("error.type", code)


class _Tracing:
    """The tracer of this process, if there is one."""

    start: Start | None = None


def set_tracer(start: Start | None) -> None:
    """Trace from now on, or no longer."""
    _Tracing.start = start


@contextmanager
def trace(name: str, **facts: Value | None) -> Iterator[Span]:
    """A span around the work inside.

    >>> with trace("ask", mechanism="chunking") as span:
    ...     span.note(asked=3)
    """
    manager, opened = None, None
    if _Tracing.start is not None:
        with suppress(Exception):
            manager = _Tracing.start(name)
            opened = manager.__enter__()
    span = Span(opened)
    span.note(**facts)
    try:
        yield span
    except BaseException as fault:
        span.fail(fault)
        raise
    finally:
        if manager is not None and opened is not None:
            with suppress(Exception):
                manager.__exit__(None, None, None)
