"""Keys of a question: those that nothing reads, what they may be misspelt from, and whose question it is.

A mechanism that declares no `question_keys` may read any key, so nothing is said of its questions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.registry import list_mechanisms, load_usable

MAX_ROWS = 1000
MAX_NAMED = 5
LONGEST_KEY = 60
SHARED = frozenset({"answers"})
"""Keys that say nothing about whose question it is."""


@dataclass(frozen=True, slots=True)
class UnreadKey:
    """A key that nothing reads: the list it is in, its name, and the known key that it is like."""

    place: str
    name: str
    like: str | None

    def __str__(self) -> str:
        """
        >>> str(UnreadKey("answers", "second", "seconds"))
        'answers[].second (did you mean seconds?)'
        """
        shown = self.name if len(self.name) <= LONGEST_KEY else f"{self.name[:LONGEST_KEY]}…"
        prefix = f"{self.place}[]." if self.place else ""
        return f"{prefix}{shown}" + (f" (did you mean {self.like}?)" if self.like else "")


def list_unread(keys: Mapping[str, Sequence[str]], data: Any) -> list[UnreadKey]:
    """The keys of a question that nothing reads, each once.

    >>> [str(one) for one in list_unread({"": ("prompt", "answers")}, {"promt": "Why?", "answers": []})]
    ['promt (did you mean prompt?)']
    """
    found: dict[UnreadKey, None] = {}
    for place, known in keys.items():
        for row in _find_rows(data, place):
            for name in row:
                if name not in known:
                    like = get_close_matches(str(name)[:LONGEST_KEY], known, n=1)
                    found[UnreadKey(place, str(name), like[0] if like else None)] = None
    return list(found)


def describe_unread(keys: Mapping[str, Sequence[str]], data: Any) -> str:
    """One sentence about the keys that nothing reads; empty if all are read."""
    found = list_unread(keys, data)
    if not found:
        return ""
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return f"nothing reads {', '.join(map(str, found[:MAX_NAMED]))}{more}"


@contextmanager
def name_misspelt(mechanism: Mechanism, data: Any) -> Iterator[None]:
    """An error about a question also names the keys that nothing read, for one of them may be the cause."""
    try:
        yield
    except WeighbeamError as fault:
        unread = describe_unread(mechanism.question_keys, data)
        if not unread:
            raise
        raise WeighbeamError(fault.code, f"{fault.message}; {unread}", fault.remedy) from fault


def refuse_foreign(mechanism: Mechanism, data: Any) -> None:
    """`bad_question` for a question that is written for another mechanism."""
    own = set(mechanism.question_keys.get("", ())) - SHARED
    if not own or not isinstance(data, Mapping) or own & data.keys():
        return
    for other in _list_others(mechanism.name):
        theirs = sorted((set(other.question_keys.get("", ())) - SHARED) & data.keys())
        if theirs:
            told = f"this is a question of {other.name}, not of {mechanism.name}: it has {', '.join(theirs)}"
            raise WeighbeamError("bad_question", told, f"use weighbeam score {other.name} FILE")


def _list_others(name: str) -> Iterable[Mechanism]:
    return (one for other, one in load_usable(sorted(list_mechanisms()))[0].items() if other != name)


def _find_rows(data: Any, place: str) -> Iterator[Mapping[Any, Any]]:
    """The objects of a question, or of a list in it: `answers`, or `answers[].snippets` of every answer."""
    rows = [data]
    for step in filter(None, place.split("[].")):
        lists = (row.get(step) for row in rows if isinstance(row, Mapping))
        rows = [one for some in lists if isinstance(some, list) for one in some[:MAX_ROWS]]
    yield from (row for row in rows if isinstance(row, Mapping))
