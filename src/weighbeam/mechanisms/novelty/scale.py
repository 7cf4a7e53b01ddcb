"""The similarity scale of an embedder: its cosines on the scale that the reward curve speaks.

The curve was drawn for an embedder in which strangers lie near 0.7. In another one they lie elsewhere, and the nearest
of many strangers is nearer than the nearest of few. A scale says which cosine reads as 0.75, where the reward reaches
its cap, in a corpus of 5,000 rows; how much that rises with ten times the rows; between which bounds it stays; and how
fast the reading grows above it.
"""

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from weighbeam.core.quantise import MILLION
from weighbeam.core.stats import parse_decimal

IDENTITY = "identity"
SCALES = {"minilm-1": "0.7 0.12 0.66 0.75 2", "minilm-2": "0.6975 0.12 0.6725 0.75 4"}
"""Numbers of a released name never change: another fit gets another name."""
CAP = 750_000
USUAL_ROWS = 5000
WRITTEN = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]{0,31}): (?P<numbers>[0-9. -]{1,80})")
DIGITS = 30


@dataclass(frozen=True, slots=True)
class Scale:
    """In millionths: `cut` reads as 0.75 among 5,000 rows, `rise` more for ten times as many, `lowest` to `highest`."""

    cut: int
    rise: int
    lowest: int
    highest: int
    slope: Fraction

    def find_cut(self, rows: int) -> int:
        """The cosine that reads as 0.75 among so many rows.

        >>> [parse_scale("minilm-1").find_cut(rows) for rows in (0, 100, 5000, 10**6)]
        [660000, 660000, 700000, 750000]
        """
        context = Context(prec=DIGITS)
        decades = context.log10(context.divide(Decimal(max(1, rows)), Decimal(USUAL_ROWS)))
        moved = self.cut + round(Fraction(context.multiply(decades, Decimal(self.rise))))
        return max(self.lowest, min(self.highest, moved))

    def read(self, micro: int, rows: int) -> int:
        """A cosine on the curve's scale; below the cut in proportion, which pays the cap in any case.

        >>> scale = parse_scale("minilm-1")
        >>> [scale.read(micro, 5000) for micro in (0, 350_000, 700_000, 800_000, 1_000_000)]
        [0, 375000, 750000, 950000, 1000000]
        """
        cut = self.find_cut(rows)
        if micro < cut:
            return max(-MILLION, round(Fraction(micro * CAP, cut)))
        return min(MILLION, CAP + round((micro - cut) * self.slope))


def expand_scale(written: str) -> str:
    """A scale with its numbers, so that the hash of parameters covers them; ValueError if there is none such.

    >>> expand_scale("minilm-1"), expand_scale("identity")
    ('minilm-1: 0.7 0.12 0.66 0.75 2', 'identity')
    """
    whole = f"{written}: {SCALES[written]}" if written in SCALES else written
    parse_scale(whole)
    return whole


def parse_scale(written: str) -> Scale | None:
    """None for the cosine itself, as the seed reads it."""
    if written == IDENTITY:
        return None
    found = WRITTEN.fullmatch(f"{written}: {SCALES[written]}" if written in SCALES else written)
    try:
        numbers = [Fraction(one) for one in found["numbers"].split()] if found else []
    except ValueError:
        numbers = []
    if len(numbers) != 5:
        raise ValueError(f"no scale is {written!r:.80}: give {IDENTITY}, {', '.join(SCALES)} or `NAME: ` and 5 numbers")
    cut, rise, lowest, highest = (round(one * MILLION) for one in numbers[:4])
    if not (0 < lowest <= highest <= MILLION and 0 <= rise <= MILLION and 0 < numbers[4] <= 1000):
        raise ValueError("of a scale the bounds are above 0 and at most 1, the rise from 0 to 1, the slope above 0")
    return Scale(cut, rise, lowest, highest, numbers[4])


def format_scale(name: str, numbers: tuple[float, float, float, float, float]) -> str:
    """As a parameter is written.

    >>> format_scale("mine-1", (0.7, 0.12, 0.66, 0.75, 2.0))
    'mine-1: 0.7 0.12 0.66 0.75 2'
    """
    return f"{name}: {' '.join(f'{float(parse_decimal(one)):g}' for one in numbers)}"
