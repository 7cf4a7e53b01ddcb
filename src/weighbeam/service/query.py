"""What is asked for in a query: each name known and once, each value of its kind, all else `bad_query`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from weighbeam.core.errors import require
from weighbeam.engine.reading import alerts, rounds, submissions

MOST = 500
DEFAULT = 50
MOST_VALUE = 3000
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""No store holds it, and no name has it; other signs that cannot be seen may well stand in a name somebody chose."""
LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT}
SCHEMAS: dict[str, tuple[str, dict[str, Any]]] = {
    "limit": ("at most so many", LIMIT),
    "cursor": ("`next` of the page before", {"type": "string"}),
    "mechanism": ("of this mechanism", {"type": "string", "examples": ["chunking"]}),
    "hotkey": ("of this miner", {"type": "string"}),
    "code": ("of this code", {"type": "string", "examples": ["degraded_mode"]}),
    "level": ("of this level", {"type": "string", "enum": list(alerts.LEVELS)}),
    "hours": ("so far back", {"type": "integer", "minimum": 1, "maximum": 720, "default": 24}),
    "seconds": ("the stream ends after so many", {"type": "integer", "minimum": 1, "maximum": 3600}),
    "after": ("the id of the last event known", {"type": "string", "examples": ["12-5-7"]}),
}
STATES: Mapping[str, tuple[str, ...]] = {"round": rounds.STATES, "submission": submissions.STATES}


@dataclass(frozen=True, slots=True)
class Given:
    """A query that was read. `withhold`: whoever asks may not read users' texts."""

    filters: Mapping[str, str]
    withhold: bool = True

    def text(self, name: str) -> str | None:
        return self.filters.get(name)

    def number(self, name: str, least: int, most: int, default: int) -> int:
        text = self.filters.get(name)
        if text is None:
            return default
        sound = NUMBER.fullmatch(text) is not None and least <= int(text) <= most
        require(sound, "bad_query", f"{name} is no number from {least} to {most}", "correct it")
        return int(text)

    def one_of(self, name: str, known: tuple[str, ...]) -> str | None:
        text = self.filters.get(name)
        require(text is None or text in known, "bad_query", f"there is no such {name}", f"one of: {', '.join(known)}")
        return text

    @property
    def most(self) -> int:
        return self.number("limit", 1, MOST, DEFAULT)

    @property
    def cursor(self) -> str | None:
        return self.filters.get("cursor")

    def add(self, name: str, value: str) -> "Given":
        return Given({**self.filters, name: value}, self.withhold)


def read_given(request: Request, names: tuple[str, ...], withhold: bool = True) -> Given:
    """The query of a request whose path is plain text too."""
    plain = not any(NOT_TEXT.search(str(value)) for value in request.path_params.values())
    require(plain, "bad_query", "the path is no plain text", "correct the path")
    given = request.query_params.multi_items()
    found = dict(given)
    known = f"only {', '.join(names)} can be asked for, each once" if names else "nothing can be asked for here"
    require(len(found) == len(given) and set(found) <= set(names), "bad_query", known, "correct the query")
    sound = all(len(value) <= MOST_VALUE and not NOT_TEXT.search(value) for value in found.values())
    require(sound, "bad_query", "a value is too long or no plain text", "correct the query")
    return Given(found, withhold)


def take_query(names: tuple[str, ...], states: str | None = None) -> dict[str, Any]:
    """FastAPI's `openapi_extra` for these names."""
    return {"parameters": [_describe(name, states) for name in names]}


def _describe(name: str, states: str | None) -> dict[str, Any]:
    state = ("in this state", {"type": "string", "enum": list(STATES[states])} if states else {"type": "string"})
    told, schema = SCHEMAS.get(name, state)
    return {"in": "query", "name": name, "description": told, "required": False, "schema": schema}
