"""The observed facts of a snippet, each read when its check needs it: one that is missing by then is our own fault."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.nli import Inference, read_inference
from weighbeam.senses.page import Outcome

OUTCOMES = get_args(Outcome)
STATUSES = ("supports", "refutes", "neutral", "unrelated", "fake")
COSINE = 1 + 1e-6
T = TypeVar("T")


class MissingFact(Exception):
    """A needed fact is null or invalid: the snippet is unscored."""


class Facts:
    """Reads what evidence.snippet is given; every method raises MissingFact if it cannot tell."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def read_statement(self) -> str:
        return _demand(self.given.get("statement"), str)

    def read_cosine(self, name: str) -> float:
        value = self.given.get(name)
        if not is_number(value) or abs(value) > COSINE:
            raise MissingFact(name)
        return float(value)

    def read_age(self) -> float | None:
        value = self.given.get("age_days")
        if value is not None and not is_number(value):
            raise MissingFact("age_days")
        return value

    def read_outcome(self) -> str:
        outcome = self._read_page().get("outcome")
        if outcome is None or outcome == "fault":
            raise MissingFact("outcome")
        require(isinstance(outcome, str) and outcome in OUTCOMES, "bad_outcome", f"no outcome: {outcome!r:.200}")
        return str(outcome)

    def read_titles(self) -> list[str]:
        """The title and the headings."""
        page = self._read_page()
        headings = _demand(page.get("headings") or [], list)
        return [_demand(title, str) for title in [page.get("title") or "", *headings]]

    def has_mark(self, name: Literal["search_box", "noindex"]) -> bool:
        return _demand(self._read_page().get(name) or False, bool)

    def is_found(self) -> bool:
        return _demand(self._read_match().get("found"), bool)

    def is_user_content(self) -> bool:
        return _demand(self._read_match().get("user_content") or False, bool)

    def is_forged(self) -> bool:
        """Positive evidence of forgery (spec § 8)."""
        if not self.is_found():
            altered = self._read_match().get("altered")
            _demand_one(altered, (None, "meaning", "number"))
            return _demand(self._read_match().get("hidden") or False, bool) or altered == "meaning"
        second = self.given.get("second_read")
        _demand_one(second, (None, "found", "absent"))
        return second == "absent" or _demand(self.given.get("made_for_task") or False, bool)

    def read_assessment(self) -> tuple[str | None, bool] | None:
        """Status (None if unknown) and whether it is a search; None if nobody assessed it. Never our fault."""
        given = self.given.get("assessment")
        if given is None:
            return None
        status = str(given.get("status")).casefold() if isinstance(given, dict) else None
        return (status, given.get("is_search") is True) if status in STATUSES else (None, False)

    def read_inference(self) -> Inference:
        return _demand(read_inference(self.given.get("nli")), Inference)

    def read_context(self) -> Inference | None:
        given = self.given.get("nli_context")
        return None if given is None else _demand(read_inference(given), Inference)

    def _read_page(self) -> dict[str, Any]:
        return _demand(self.given.get("page"), dict)

    def _read_match(self) -> dict[str, Any]:
        return _demand(self.given.get("match"), dict)


def _demand(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise MissingFact(kind.__name__)
    return value


def _demand_one(value: object, allowed: tuple[object, ...]) -> None:
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise MissingFact(repr(allowed))
