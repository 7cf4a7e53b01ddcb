"""Let many callers share one transaction: whoever's turn comes does the work of all who wait, in order of arrival.

A commit waits for the disk; sixteen callers that commit together wait once.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")
MOST_TOGETHER = 64


@dataclass(slots=True)
class _Ticket(Generic[Given, Result]):
    given: Given
    results: list[Result | Exception] = field(default_factory=list)


class Turns(Generic[Given, Result]):
    """`work` gets what waits and gives one result for each, an exception for one that alone is refused."""

    def __init__(self, work: Callable[[Sequence[Given]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: list[_Ticket[Given, Result]] = []
        self._line = threading.Lock()
        self._turn = threading.Lock()

    def take(self, given: Given) -> Result:
        """What came of `given`, once it is done."""
        ticket: _Ticket[Given, Result] = _Ticket(given)
        with self._line:
            self._waiting.append(ticket)
        while not ticket.results:
            with self._turn:
                if not ticket.results:
                    self._do_next()
        result = ticket.results[0]
        if isinstance(result, Exception):
            raise result
        return result

    def _do_next(self) -> None:
        with self._line:
            batch, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        try:
            results = self._work([ticket.given for ticket in batch])
        except Exception as fault:
            results = [fault] * len(batch)
        except BaseException:
            for ticket in batch:
                ticket.results.append(RuntimeError("interrupted"))
            raise
        for ticket, result in zip(batch, results, strict=True):
            ticket.results.append(result)
