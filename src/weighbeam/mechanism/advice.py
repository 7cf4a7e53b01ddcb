"""Shared parts of the advice to miners: cost of failures, share of the gap, the most worthwhile first."""

import math
from collections.abc import Mapping, Sequence

from weighbeam.core.numbers import format_short
from weighbeam.mechanism.records import Advice, Score, ScorePair

MAX_ADVICE = 5
MIN_GAIN = 1e-9
MIN_PART = 0.01
"""Of the largest gain: less is not worth a word."""


def choose_advice(found: Sequence[Advice], gap: float | None = None) -> tuple[Advice, ...]:
    """At most five, the largest gain first; each says what part of the gap to the best it is, where it is one.

    >>> [one.title for one in choose_advice([Advice("a", "", 0.1), Advice("b", "", 0.2), Advice("c", "", 0.0)])]
    ['b', 'a']
    """
    largest = max((one.gain or 0.0 for one in found), default=0.0)
    least = max(MIN_GAIN, MIN_PART * largest)
    worth = [one for one in found if one.gain is not None and one.gain > least]
    ordered = sorted(worth, key=lambda one: (-(one.gain or 0.0), one.title))[:MAX_ADVICE]
    return tuple(Advice(one.title, f"{one.text}{_describe_part(one.gain or 0.0, gap)}", one.gain) for one in ordered)


def measure_gap(pairs: Sequence[ScorePair]) -> float | None:
    """How far below the best of its rounds a miner was on average; None where there was no best."""
    gaps = [(best.value or 0.0) - (own.value or 0.0) for own, best in pairs if best is not None]
    return average(gaps) if gaps else None


def advise_failures(pairs: Sequence[ScorePair], meanings: Mapping[str, str]) -> list[Advice]:
    """One for each reason that answers failed for; such a round could have brought what the miner's others did."""
    failed = [own for own, _ in pairs if own.status == "failed"]
    typical = find_typical(pairs)
    found = []
    for code in sorted({code for own in failed for code in own.reasons[:1] if code in meanings}):
        hit = [own for own in failed if own.reasons[0] == code]
        gain = math.fsum(typical - (own.value or 0.0) for own in hit) / len(pairs)
        text = f"{count(hit, pairs)} failed as {code}: {meanings[code]} That cost {shown(gain)} per round"
        found.append(Advice(f"Do not fail as {code}", text, gain))
    return found


def find_typical(pairs: Sequence[ScorePair]) -> float:
    """Average score of the miner's valid answers; without any, average of its rounds' best scores."""
    own = [one.value for one, _ in pairs if one.status == "valid" and one.value is not None]
    best = [one.value for _, one in pairs if one is not None and one.value is not None]
    return average(own or best)


def list_valid(pairs: Sequence[ScorePair]) -> list[tuple[Score, Score | None]]:
    return [(own, best) for own, best in pairs if own.status == "valid" and own.parts is not None]


def average(values: Sequence[float]) -> float:
    """
    >>> average([1.0, 2.0]), average([])
    (1.5, 0.0)
    """
    return math.fsum(values) / len(values) if values else 0.0


def count(some: Sequence[object], pairs: Sequence[object]) -> str:
    """
    >>> count([1], [1, 2]), count([1, 2], [1, 2])
    ('1 of your last 2 answers', 'All of your last 2 answers')
    """
    return f"{'All' if len(some) == len(pairs) else len(some)} of your last {len(pairs)} answers"


def shown(value: float) -> str:
    """
    >>> shown(0.04123), shown(12.5), shown(1234567.0)
    ('0.0412', '12.5', '1,234,567')
    """
    return format_short(value, ",.0f" if abs(value) >= 1000 else ".3g")


def _describe_part(gain: float, gap: float | None) -> str:
    if gap is None or gap <= MIN_GAIN:
        return "."
    return f", {gain / gap:.0%} of your gap to the best." if gain < gap else ", as much as your whole gap to the best."
