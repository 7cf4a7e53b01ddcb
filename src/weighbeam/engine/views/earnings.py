"""Earnings over time: the shares of the weights that the chain confirmed, the largest earners by themselves."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from weighbeam.engine.views.weights import list_shares
from weighbeam.store import tables
from weighbeam.store.database import Store

SUBMISSIONS = tables.submissions.c
MAX_VECTORS = 60
MAX_EARNERS = 4


@dataclass(frozen=True, slots=True)
class ConfirmedVector:
    """One vector of weights that the chain confirmed: shares by hotkey, together 1."""

    at: float
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Earnings:
    """Of one mechanism: confirmed vectors, oldest first; `earners` are the largest over all of them, by their sum."""

    mechanism: str
    vectors: tuple[ConfirmedVector, ...]
    earners: tuple[str, ...]

    @property
    def last(self) -> ConfirmedVector | None:
        return self.vectors[-1] if self.vectors else None


def select_earnings(store: Store, mechanism: str, vectors: int = MAX_VECTORS, earners: int = MAX_EARNERS) -> Earnings:
    """Of the newest vectors; one earner alone is named instead of being called the others."""
    with store.read() as connection:
        found = _select_vectors(connection, mechanism, vectors)
    total: Counter[str] = Counter()
    for vector in found:
        total.update(vector.shares)
    ordered = sorted(total, key=lambda hotkey: (-total[hotkey], hotkey))
    shown = ordered if len(ordered) == earners + 1 else ordered[:earners]
    return Earnings(mechanism, found, tuple(shown))


def _select_vectors(connection: Connection, mechanism: str, limit: int) -> tuple[ConfirmedVector, ...]:
    query = select(SUBMISSIONS.at, SUBMISSIONS.row, SUBMISSIONS.plan).where(
        SUBMISSIONS.mechanism == mechanism, SUBMISSIONS.state == "confirmed"
    )
    rows = connection.execute(query.order_by(SUBMISSIONS.id.desc()).limit(limit)).all()
    return tuple(
        ConfirmedVector(row.at, {one.hotkey: one.share for one in list_shares(row.row, row.plan["holders"])})
        for row in reversed(rows)
    )
