"""Paged lists: newest first, each page ends in a cursor from which the next one continues."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from weighbeam.core.errors import WeighbeamError

Item = TypeVar("Item")
VERSION = 1
MAX_CURSOR = 2000
MAX_TEXT = 200
MAX_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ListPage(Generic[Item]):
    """Some items, and the cursor of those after them; None at the end."""

    items: tuple[Item, ...]
    next: str | None = None


def cut_page(
    rows: Sequence[Item], limit: int, list_name: str, key: Callable[[Item], tuple[Any, ...]]
) -> ListPage[Item]:
    """A page of rows of which one more was read than is given.

    >>> cut_page([9, 8, 7], 2, "numbers", lambda row: (row,)).items
    (9, 8)
    """
    kept = tuple(rows[:limit])
    return ListPage(kept, format_cursor(list_name, *key(kept[-1])) if len(rows) > limit and kept else None)


def format_cursor(list_name: str, *key: float | int | str) -> str:
    """
    >>> parse_cursor(format_cursor("rounds", 5.5, "r1"), "rounds", float, str)
    (5.5, 'r1')
    """
    data = json.dumps([VERSION, list_name, *key], separators=(",", ":"), allow_nan=False).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def parse_cursor(text: str | None, list_name: str, *types: type) -> tuple[Any, ...] | None:
    """The key a cursor of this list stands for, None without one; `bad_cursor` if it is none that we wrote."""
    if text is None:
        return None
    try:
        key = _parse_parts(text, list_name)
    except (ValueError, UnicodeError, RecursionError, binascii.Error):
        key = None
    if key is None or len(key) != len(types) or not all(map(_is_sound, key, types)):
        raise WeighbeamError(
            "bad_cursor", "this cursor does not belong to this list", "leave it out to start from the beginning"
        )
    return tuple(key)


def _parse_parts(text: str, list_name: str) -> list[Any] | None:
    if len(text) > MAX_CURSOR or not text.isascii():
        return None
    found = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    ours = isinstance(found, list) and found[:2] == [VERSION, list_name] and format_cursor(*found[1:]) == text
    return found[2:] if ours else None


def _is_sound(value: Any, wanted: type) -> bool:
    """A key that a database takes: finite, no larger than it counts, and no half characters."""
    if type(value) is not wanted:
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= MAX_NUMBER
    return (
        isinstance(value, str)
        and len(value) <= MAX_TEXT
        and "\0" not in value
        and value.encode("utf-8", "replace").decode() == value
    )
