"""How numbers, times and names are written on a page. Pure."""

import math
import time
from collections.abc import Iterable, Sequence

from weighbeam.core.names import shorten as shorten
from weighbeam.core.numbers import NONE, format_short

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
TONES = {
    "good": ("valid", "confirmed", "NORMAL", "ok", "paid", "done", "released", "submitted", "supported", "info"),
    "warn": (
        "warning",
        "DEGRADED",
        "held",
        "unscored",
        "void",
        "waiting",
        "taken",
        "sent",
        "planned",
        "skip",
        "UNREADABLE",
    ),
    "bad": ("failed", "critical", "EMERGENCY", "stalled", "discarded", "duplicate", "rejected", "refused", "refuted"),
}
WORDS = {word: tone for tone, words in TONES.items() for word in words}


def format_number(value: float | None, digits: int = 4) -> str:
    """
    >>> format_number(0.338043051876), format_number(12345.678), format_number(3.0), format_number(None)
    ('0.338', '12,346', '3', '–')
    >>> format_number(0.00001234), format_number(-9.9), format_number(-1.229e63)
    ('1.23e-05', '-9.9', '-1.23e+63')
    """
    if value is None or not math.isfinite(value):
        return NONE
    if value == int(value) or abs(value) >= 1000:
        return format_short(value, ",.0f")
    return format_short(value, f".{digits}g" if abs(value) >= 1 else ".3f")


LARGE = 1e6
"""From here on a number is written as 1.2e+06 and has no say in how others of its column are."""


def format_column(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Numbers of one column with the same decimals, so many that the largest has `digits` digits.

    >>> format_column([60.6, 64.65, None, 60.0])
    ['60.60', '64.65', '–', '60.00']
    >>> format_column([0.1234567, 0.00001, 0.0, -1.29e87]), format_column([3.0, 12000.0])
    (['0.1235', '<0.0001', '0.0000', '−1.29e+87'], ['3', '12,000'])
    """
    known = list(values)
    decimals = choose_decimals(known, digits)
    return [format_decimals(value, decimals) for value in known]


def choose_decimals(values: Iterable[float | None], digits: int = 4) -> int:
    """
    >>> choose_decimals([1.61, 1.609]), choose_decimals([13.5, 10]), choose_decimals([500.0, 100.0])
    (3, 2, 0)
    """
    usual = [abs(value) for value in values if value is not None and math.isfinite(value) and abs(value) < LARGE]
    if not usual or all(value == int(value) for value in usual):
        return 0
    whole = len(str(int(max(usual)))) if max(usual) >= 1 else 0
    return max(0, digits - whole)


def format_decimals(value: float | None, decimals: int) -> str:
    """
    >>> format_decimals(-1.5, 2), format_decimals(2.5e9, 2), format_decimals(-0.0001, 2)
    ('−1.50', '2.50e+09', '−<0.01')
    """
    if value is None or not math.isfinite(value):
        return NONE
    size, sign = abs(value), "−" if value < 0 else ""
    if size >= LARGE:
        return f"{sign}{size:.2e}"
    if 0 < size < 0.5 * 10.0**-decimals:
        return f"{sign}<{10.0**-decimals:.{decimals}f}"
    return f"{sign}{size:,.{decimals}f}"


def format_fixed(value: float | None) -> str:
    """
    >>> format_fixed(1.0), format_fixed(0.70312), format_fixed(None)
    ('1.000', '0.703', '–')
    """
    return format_short(value, ".3f")


def format_percent(share: float | None) -> str:
    """
    >>> tuple(format_percent(share) for share in (0.2017, 0.0000153, 0.0, 1.0, None))
    ('20.2 %', '<0.1 %', '0 %', '100 %', '–')
    """
    if share is None:
        return NONE
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    return "<0.1 %" if 0 < share < 0.001 else f"{share * 100:.1f} %"


def format_share(share: float | None) -> str:
    """A share of one as the field writes vtrust, incentive and dividends.

    >>> format_share(0.9371), format_share(None)
    ('0.9371', '–')
    """
    return NONE if share is None else f"{share:.4f}"


def format_age(seconds: float) -> str:
    """
    >>> format_age(3), format_age(150), format_age(7300), format_age(300000), format_age(-30)
    ('3 s', '2 min', '2 h', '3 d', '0 s')
    """
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def format_tokens(units: float | None, base_units: int) -> str:
    """
    >>> format_tokens(100_000_000_000, 1_000_000_000), format_tokens(1_500, 1_000_000_000)
    ('100', '1.5e-06')
    """
    return NONE if units is None else format_number(units / base_units)


def format_time(at: float) -> str:
    """
    >>> format_time(1767225600.0)
    '2026-01-01T00:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def find_tone(word: str) -> str:
    """
    >>> find_tone("confirmed"), find_tone("critical"), find_tone("collected")
    ('good', 'bad', '')
    """
    return WORDS.get(word, "")


def trace_line(values: Sequence[float | None], width: float = 100.0, height: float = 24.0) -> str:
    """Points of a line through the values that are numbers, oldest left.

    >>> trace_line([1.0, 2.0, None, 3.0])
    '0.0,22.0 33.3,12.0 100.0,2.0'
    """
    known = [(at, value) for at, value in enumerate(values) if value is not None]
    if not known:
        return ""
    low, high = min(value for _, value in known), max(value for _, value in known)
    step, span = width / max(1, len(values) - 1), (high - low) or 1.0
    flat = high == low
    inner = height - 4
    return " ".join(
        f"{at * step:.1f},{(height / 2) if flat else height - 2 - inner * (value - low) / span:.1f}"
        for at, value in known
    )
