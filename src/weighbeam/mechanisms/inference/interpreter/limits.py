"""Limits of a program: steps, sizes, nesting. Every operation is charged before it runs."""

from typing import Any

MAX_STEPS = 50_000
MAX_NESTED = 160
"""Expressions, statements and calls inside each other; each takes up to four frames of the real Python."""
MAX_BITS = 4096
MAX_ITEMS = 10_000
"""Characters of a string, items of a list."""
MAX_KEYS = 2000
"""Of a dict or a set: numbers with equal hashes make each of them slow."""
MAX_WEIGHT = 20_000
"""Values inside a value that is compared, hashed, shown or handed out: `a = [a, a]` doubles it with every line."""
CHARACTERS_A_STEP = 8


class LimitReached(Exception):
    """The program asked for more than it may use."""


class Unsupported(Exception):
    """The program has something that this interpreter does not know: nothing can be said of it."""


class ProgramFault(Exception):
    """The program did what Python would refuse, or raised an exception itself."""


class Meter:
    """Counts what a program uses."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps
        self.nested = 0

    def pay(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise LimitReached("steps")

    def pay_size(self, size: int) -> None:
        """Pay for something new of so many characters or items."""
        if size > MAX_ITEMS:
            raise LimitReached("size")
        self.pay(1 + size // CHARACTERS_A_STEP)

    def enter(self) -> None:
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise LimitReached("nesting")
        self.pay()

    def leave(self) -> None:
        self.nested -= 1

    def weigh(self, value: Any) -> None:
        """Pay for everything inside a value; one that holds itself has no end."""
        waiting, met = [value], 0
        while waiting:
            one = waiting.pop()
            met += 1
            if isinstance(one, str):
                met += len(one) // CHARACTERS_A_STEP
            elif isinstance(one, list | tuple | set):
                waiting.extend(one)
            elif isinstance(one, dict):
                waiting.extend(one)
                waiting.extend(one.values())
            if met + len(waiting) > MAX_WEIGHT:
                raise LimitReached("weight")
        self.pay(1 + met // CHARACTERS_A_STEP)

    def check(self, value: Any) -> Any:
        """A new value, if it is of a kind and a size that a program may have."""
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise LimitReached("integer")
        elif isinstance(value, str | list | tuple):
            self.pay_size(len(value))
        elif isinstance(value, set | dict):
            self.pay_size(len(value))
            if len(value) > MAX_KEYS:
                raise LimitReached("keys")
        elif not isinstance(value, float | range):
            raise Unsupported(type(value).__name__)
        return value
