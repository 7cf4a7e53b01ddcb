"""The seven context signals and their ranges (spec § 12)."""

from weighbeam.core.numbers import is_number

DECIMALS = 6
RANGES = {
    "sentiment": (-1.0, 1.0),
    "conviction": (0.0, 1.0),
    "source_credibility": (0.0, 1.0),
    "narrative_momentum": (0.0, 1.0),
    "risk_reward": (0.0, 1.0),
    "catalyst": (0.0, 1.0),
    "political_leaning": (-1.0, 1.0),
}


def fit_signal(name: str, value: object) -> float | None:
    """A signal within its range and in millionths; None if it is no number.

    >>> fit_signal("conviction", 1e9), fit_signal("sentiment", -0.12345678), fit_signal("catalyst", "much")
    (1.0, -0.123457, None)
    """
    if not is_number(value):
        return None
    least, most = RANGES[name]
    return round(min(most, max(least, float(value))), DECIMALS) + 0.0
