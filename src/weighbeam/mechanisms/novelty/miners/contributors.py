"""Contributors to novelty: writers who have something new to say, and the ways to be paid for nothing new.

An act is `lines:K/N`, the K-th of N honest writers, or `hostile:TRICK`. Every trick works on what the first writer has
just said.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from weighbeam.core.errors import WeighbeamError

WRITERS = 5
LATIN, CYRILLIC = "aceopxyiAEOPCXHTM", "асеорхуіАЕОРСХНТМ"


@cache
def load_lines(name: str = "lines") -> tuple[str, ...]:
    """The project's own lines, one contribution each; `reworded` has every fifth of them in other words."""
    text = files("weighbeam.mechanisms.novelty.miners").joinpath(f"contributions/{name}.txt").read_text("utf-8")
    return tuple(text.splitlines())


def count_turns() -> int:
    """How often every writer can say something new."""
    return len(load_lines()) // WRITERS


def contribute(act: str, turn: int) -> str:
    """Contribution of a contributor at its `turn`, counted from 0.

    >>> contribute("lines:0/5", 1).startswith("Bamboo"), contribute("hostile:shouter", 0)[:10]
    (True, 'SEA OTTERS')
    """
    kind, _, rest = act.partition(":")
    if kind == "lines":
        place, _, count = rest.partition("/")
        return load_lines()[turn * int(count) + int(place)]
    if kind == "hostile" and rest in TRICKS:
        return TRICKS[rest](turn)
    remedy = f"write lines:K/N or hostile: and one of {', '.join(TRICKS)}"
    raise WeighbeamError("unknown_answers", f"{act!r} is not a way to contribute", remedy)


def _copied(turn: int) -> str:
    return load_lines()[turn * WRITERS]


def _halve(turn: int) -> str:
    words = _copied(turn).split()
    return " ".join(words[: 2 * len(words) // 3])


def _mash(turn: int) -> str:
    """Letters that no keyboard meant."""
    drawn = hashlib.sha256(f"mash {turn}".encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
    return " ".join(drawn[start : start + 5] for start in range(0, 60, 5))


def _salad(turn: int) -> str:
    """Every word of the language's rarer ones, none of its grammar."""
    words = [word.strip(".,;:").lower() for line in load_lines()[turn::9] for word in line.split() if len(word) > 7]
    return " ".join(words[:20])


TRICKS: dict[str, Callable[[int], str]] = {
    "copycat": _copied,
    "shouter": lambda turn: _copied(turn).upper(),
    "spacer": lambda turn: _copied(turn).replace(" ", " \u200b\u00a0"),
    "rewording": lambda turn: load_lines("reworded")[turn],
    "halver": _halve,
    "prefixer": lambda turn: f"As everybody knows, {_copied(turn)}",
    "homoglyphs": lambda turn: _copied(turn).translate(str.maketrans(LATIN, CYRILLIC)),
    "masher": _mash,
    "salad": _salad,
    "repeater": lambda turn: "new idea " * (20 + turn),
}
