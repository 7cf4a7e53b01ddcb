"""The reward curve of a desk's parameters with its own contributions on it, ready to be drawn."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from sqlalchemy import func, select

from weighbeam.charts.curve import Bar, Curve, Point
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import fitted_units, reward_units
from weighbeam.mechanisms.novelty.tables import contributions
from weighbeam.store.database import Store

WhichCurve = Literal["exponential", "fitted"]
LEFT = 700_000
STEPS, BARS, MAX_MARKS = 300, 30, 12
Near = tuple[int, str]


def draw_curve(store: Store, params: NoveltyParams, which: WhichCurve) -> Curve:
    """From 0.70, or from where the cap is reached if that is further left, to 1."""
    near = select_nearest(store)
    reference, step = round(params.reference_similarity * MILLION), round(params.similarity_step * MILLION)
    start = max(-MILLION, min(LEFT, reference - 5 * step))
    places = [start + (reference - start) * i // STEPS for i in range(STEPS + 1)] if reference > start else [reference]
    points = [(micro, reward_units(micro, params)) for micro in places]
    if not any(units for _, units in points):
        raise WeighbeamError("nothing_to_draw", "under these parameters nothing is paid here", "set min_reward")
    other = [(micro, fitted_units(micro, params)) for micro in places] if which == "fitted" else []
    steps = [reference - step * i for i in range(MAX_MARKS) if reference - step * i >= start]
    marks = [(micro, reward_units(micro, params)) for micro in steps]
    return Curve(
        title="Pay for novelty",
        subtitle=(*_describe_corpus(near, start), *_describe_difference(points, other)),
        start=start / MILLION,
        reference=reference / MILLION,
        points=_in_tokens(points, params),
        marks=_in_tokens(_until_cap(marks), params),
        other=_in_tokens(other, params),
        bars=count_bars(near, start),
    )


def select_nearest(store: Store) -> list[Near]:
    """The similarity that each text of the corpus was paid for, and what it got; the first had nothing before it."""
    c = contributions.c
    paid_for = func.coalesce(c.receipt["similarity"].as_integer(), c.micro).label("similarity")
    query = select(paid_for, c.status, c.units).where(c.status.in_(("paid", "held")), c.nearest.is_not(None))
    with store.read() as connection:
        return [(row.similarity, row.status if row.units else "nothing paid") for row in connection.execute(query)]


def count_bars(near: Iterable[Near], start: int) -> tuple[Bar, ...]:
    """Thirty bars from `start` to 1; what lies left of it is in none.

    >>> count_bars([(700_000, "paid"), (709_999, "paid"), (1_000_000, "nothing paid"), (0, "paid")], 700_000)
    ((0.7, 0.71, 'paid', 2), (0.99, 1.0, 'nothing paid', 1))
    """
    span = MILLION - start
    counts = Counter((min(BARS - 1, (micro - start) * BARS // span), said) for micro, said in near if micro >= start)
    edges = [(start + span * i // BARS) / MILLION for i in range(BARS + 1)]
    return tuple((edges[i], edges[i + 1], said, count) for (i, said), count in sorted(counts.items()))


def _until_cap(marks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """One mark at the cap is enough."""
    kept: list[tuple[int, int]] = []
    for mark in marks:
        if kept and mark[1] == kept[-1][1]:
            break
        kept.append(mark)
    return kept


def _in_tokens(points: Iterable[tuple[int, int]], params: NoveltyParams) -> tuple[Point, ...]:
    """Only what is above 0 has a place on a logarithmic scale."""
    return tuple((micro / MILLION, units / params.base_units) for micro, units in points if units)


def _describe_corpus(near: Sequence[Near], start: int) -> Iterable[str]:
    left = sum(micro < start for micro, _ in near)
    yield f"{len(near)} contributions had something before them; {left} lie left of {start / MILLION:g}"


def _describe_difference(points: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> Iterable[str]:
    ratios = [abs(b / a - 1) for (_, a), (_, b) in zip(points, other, strict=False) if a]
    if ratios:
        yield f"wide and pale: the fitted curve, at most {max(ratios):.4%} apart; it never pays"
