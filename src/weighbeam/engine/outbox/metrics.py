"""Metrics that mechanisms declare, added up in the transaction of their round so that restarts lose none."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.numbers import is_number
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Measure, Scored
from weighbeam.store.database import Store
from weighbeam.store.memory import note, recall
from weighbeam.store.tables import memory

MAX_SERIES = 300
MAX_LABEL = 100
MAX_ROWS = 20_000
OTHER = "other"
NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
Series = dict[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class PublishedMetric:
    """A metric as it is published."""

    name: str
    measure: Measure
    series: Mapping[tuple[str, ...], float]


def count_round(connection: Connection, mechanism: Mechanism, scored: Scored) -> None:
    """Count a round in the transaction that commits it."""
    rows = scored.summary.get("metrics")
    if not mechanism.measures or not isinstance(rows, (list, tuple)):
        return
    before = connection.scalar(select(memory.c.value).where(memory.c.key == _key(mechanism.name)))
    totals = _parse_totals(before)
    for name, measure in list_measures(mechanism):
        found = _gather(rows, name, measure)
        if found:
            totals[name] = fold_series(totals.get(name, {}), found, measure)
    note(connection, _key(mechanism.name), {name: _format_series(series) for name, series in totals.items()})


def fold_series(before: Series, found: Series, measure: Measure) -> Series:
    """Add a round's values to counters; a gauge takes the round's value.

    >>> fold_series({("a",): 2.0}, {("a",): 1.0, ("b",): 1.0}, Measure("counter", "", ("x",)))
    {('a',): 3.0, ('b',): 1.0}
    """
    after = dict(before) if measure.kind == "counter" else {}
    for labels, value in found.items():
        after[labels] = after.get(labels, 0.0) + value if measure.kind == "counter" else value
    if len(after) <= MAX_SERIES:
        return after
    rest = (OTHER,) * len(measure.labels)
    least_first = sorted(
        (labels for labels in after if labels != rest), key=lambda one: (one in found, after[one], one)
    )
    for labels in least_first[: len(after) - MAX_SERIES + (rest not in after)]:
        value = after.pop(labels)
        after[rest] = after.get(rest, 0.0) + value if measure.kind == "counter" else value
    return after


def list_shown(store: Store, mechanism: Mechanism) -> Iterator[PublishedMetric]:
    """Everything a mechanism has counted so far."""
    if not mechanism.measures:
        return
    totals = _parse_totals(recall(store, _key(mechanism.name)))
    prefix = re.sub(r"[^a-z0-9]", "_", mechanism.name.lower())
    for name, measure in list_measures(mechanism):
        yield PublishedMetric(f"weighbeam_{prefix}_{name}", measure, totals.get(name, {}))


def list_measures(mechanism: Mechanism) -> list[tuple[str, Measure]]:
    """The declared ones that can be published."""
    return [(name, one) for name, one in mechanism.measures.items() if NAME.fullmatch(name)]


def fit_label(value: object) -> str:
    """A label as it may be published.

    >>> fit_label("bbc.co.uk"), fit_label("a" * 200), fit_label("\\ud800"), fit_label(3)
    ('bbc.co.uk', 'other', 'other', 'other')
    """
    fits = isinstance(value, str) and len(value) <= MAX_LABEL and value.isprintable()
    return str(value) if fits else OTHER


def _gather(rows: Sequence[Any], name: str, measure: Measure) -> Series:
    """The rows of one metric that look as they should: whatever a mechanism writes there, no round is lost for it."""
    found: Series = {}
    for row in rows[:MAX_ROWS]:
        if not isinstance(row, (list, tuple)) or len(row) != 3 or row[0] != name:
            continue
        _, labels, value = row
        counts = is_number(value, 0) if measure.kind == "counter" else is_number(value)
        if counts and isinstance(labels, (list, tuple)) and len(labels) == len(measure.labels):
            key = tuple(map(fit_label, labels))
            found[key] = found.get(key, 0.0) + float(value) if measure.kind == "counter" else float(value)
    return found


def _key(mechanism: str) -> str:
    return f"metrics:{mechanism}"


def _format_series(series: Series) -> list[list[Any]]:
    return [[list(labels), value] for labels, value in series.items() if math.isfinite(value)]


def _parse_totals(kept: Any) -> dict[str, Series]:
    return {name: {tuple(labels): value for labels, value in rows} for name, rows in (kept or {}).items()}
