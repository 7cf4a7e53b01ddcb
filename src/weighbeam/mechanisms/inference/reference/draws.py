"""Functions of templates in addition to Python's: draws and spelling."""

from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.inference.interpreter.functions import list_items
from weighbeam.mechanisms.inference.interpreter.limits import Meter
from weighbeam.mechanisms.inference.reference.kinds import LETTERS

ROMAN = ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
MAX_ROMAN = 89


class SeededDraws:
    """Draws that follow from a seed, one after the other."""

    def __init__(self, seed: Seed) -> None:
        self._seed = seed
        self._drawn = 0

    def _draw(self, below: int) -> int:
        self._drawn += 1
        return int(seeded_digest(self._seed, "draw", self._drawn)[:16], 16) % below

    def between(self, _: Meter, low: int, high: int) -> int:
        """A whole number, both ends included."""
        if not isinstance(low, int) or not isinstance(high, int) or high < low:
            raise ValueError("between takes two whole numbers")
        return low + self._draw(high - low + 1)

    def pick(self, meter: Meter, given: Any) -> Any:
        items = list_items(meter, given)
        if not items:
            raise ValueError("nothing to pick from")
        return items[self._draw(len(items))]

    def sample(self, meter: Meter, given: Any, count: int) -> list[Any]:
        """So many different ones."""
        items = list_items(meter, given)
        if not 0 <= count <= len(items):
            raise ValueError("not as many")
        return [items.pop(self._draw(len(items))) for _ in range(count)]

    def shuffled(self, meter: Meter, given: Any) -> list[Any]:
        return self.sample(meter, given, len(list_items(meter, given)))

    def offer(self) -> Mapping[str, Callable[..., Any]]:
        drawn: dict[str, Callable[..., Any]] = {"between": self.between, "pick": self.pick}
        return {**drawn, "sample": self.sample, "shuffled": self.shuffled, **SPELLERS}


def listed(meter: Meter, given: Any) -> str:
    """
    >>> listed(Meter(), ["a", "b", "c"])
    'a, b and c'
    """
    items = [str(one) for one in list_items(meter, given)]
    return " and ".join(part for part in (", ".join(items[:-1]), items[-1]) if part) if items else ""


def lettered(meter: Meter, given: Any) -> str:
    """
    >>> lettered(Meter(), ["red", "blue"])
    'A) red B) blue'
    """
    return " ".join(f"{letter}) {one}" for letter, one in zip(LETTERS, list_items(meter, given), strict=False))


def two(_: Meter, number: int) -> str:
    """Two digits, as minutes are written."""
    return f"{int(number) % 100:02}"


def clock(_: Meter, minutes: int) -> str:
    """
    >>> clock(Meter(), 9 * 60 + 5)
    '9:05'
    """
    return f"{int(minutes) // 60 % 24}:{int(minutes) % 60:02}"


def roman(_: Meter, number: int) -> str:
    """
    >>> roman(Meter(), 49)
    'XLIX'
    """
    if not isinstance(number, int) or not 1 <= number <= MAX_ROMAN:
        raise ValueError("from 1 to 89")
    spelled = ""
    for value, letters in ROMAN:
        while number >= value:
            spelled, number = spelled + letters, number - value
    return spelled


def an(_: Meter, word: str) -> str:
    """
    >>> an(Meter(), "otter"), an(Meter(), "lynx")
    ('an otter', 'a lynx')
    """
    return f"{'an' if str(word)[:1].lower() in 'aeiou' else 'a'} {word}"


def nth(_: Meter, number: int) -> str:
    """
    >>> [nth(Meter(), number) for number in (1, 12, 22, 103)]
    ['1st', '12th', '22nd', '103rd']
    """
    teen = 10 < int(number) % 100 < 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(int(number) % 10, 'th')}"


SPELLERS: Mapping[str, Callable[..., Any]] = {
    "listed": listed,
    "lettered": lettered,
    "two": two,
    "clock": clock,
    "roman": roman,
    "an": an,
    "nth": nth,
}
