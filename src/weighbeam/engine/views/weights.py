"""Weights set on the chain and how concentrated they are, every submission and weigh-in, and which version's defaults
they were made under.

An intent goes planned → sent → included → confirmed, or failed with a reason, or unknown until the chain is read back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.stats import effective_number, gini, top_share
from weighbeam.engine.rules.constants import Averaging, hash_weighing
from weighbeam.engine.rules.intents import REACHED, State
from weighbeam.engine.support.cache import StoreMemo
from weighbeam.engine.views.paging import ListPage, cut_page, parse_cursor
from weighbeam.engine.weights.audit import ATTEMPT_KINDS, AuditLine
from weighbeam.mechanism.released import load_released
from weighbeam.store import tables
from weighbeam.store.database import Store


def find_version(mechanism: str, params_hash: str) -> str | None:
    """The newest version with these defaults, this version's constants and the default averages; None if it is none.

    >>> find_version("chunking", "0" * 64)
    """
    for version, defaults in reversed(load_released().items()):
        if mechanism in defaults and hash_weighing(mechanism, defaults[mechanism], Averaging()) == params_hash:
            return version
    return None


NAME = "submissions"
STATES = ("planned", "sent", "included", "unknown", "confirmed", "failed")


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """One row of the ledger: `row` is pairs of uid and value as sent, `plan` what was planned and learnt since."""

    id: int
    mechanism: str
    state: str
    reason: str | None
    at: float
    sent_block: int | None
    included_block: int | None
    row: tuple[tuple[int, int], ...]
    plan: Mapping[str, Any]

    @property
    def message(self) -> str | None:
        """The message of the side that refused."""
        return self.plan.get("message")


def list_submissions(
    store: Store,
    mechanism: str | None = None,
    state: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> ListPage[SubmissionLine]:
    columns, after = tables.submissions.c, parse_cursor(cursor, NAME, int)
    query = select(tables.submissions).order_by(columns.id.desc()).limit(limit + 1)
    if after is not None:
        query = query.where(columns.id < after[0])
    if mechanism is not None:
        query = query.where(columns.mechanism == mechanism)
    if state is not None:
        query = query.where(columns.state == state)
    with store.read() as connection:
        lines = [
            SubmissionLine(
                row.id,
                row.mechanism,
                row.state,
                row.reason,
                row.at,
                row.sent_block,
                row.included_block,
                tuple((uid, value) for uid, value in row.row),
                row.plan,
            )
            for row in connection.execute(query)
        ]
    return cut_page(lines, limit, NAME, lambda line: (line.id,))


SUBMISSIONS = tables.submissions.c


@dataclass(frozen=True, slots=True)
class Share:
    """One weight: `value` is the integer sent, `share` its part of all of them, 0 to 1."""

    hotkey: str
    uid: int
    value: int
    share: float
    name: str | None = None


@dataclass(frozen=True, slots=True)
class WeightsLine:
    """One intent to set weights, the largest share first. `effective` equals would be as concentrated."""

    id: int
    at: float
    mode: str
    state: State
    reason: str | None
    message: str | None
    block: int
    sent_block: int | None
    included_block: int | None
    shares: tuple[Share, ...]
    gini: float
    top1: float
    top3: float
    effective: float


LAST: StoreMemo[WeightsLine] = StoreMemo()


def list_weights(
    store: Store,
    mechanism: str,
    limit: int,
    before: int | None = None,
    since: float | None = None,
    until: float | None = None,
) -> tuple[WeightsLine, ...]:
    """Newest first; with `before`, those older than that id; or those of some time."""
    query = select(tables.submissions).where(SUBMISSIONS.mechanism == mechanism)
    if since is not None:
        query = query.where(SUBMISSIONS.at >= since)
    if until is not None:
        query = query.where(SUBMISSIONS.at <= until)
    if before is not None:
        query = query.where(SUBMISSIONS.id < before)
    with store.read() as connection:
        return tuple(map(_parse_weights, connection.execute(query.order_by(SUBMISSIONS.id.desc()).limit(limit))))


def recall_last_set(store: Store, mechanism: str) -> WeightsLine | None:
    """As `select_last_set` finds it."""
    with store.read() as connection:
        return select_last_set(connection, mechanism)


def select_last_set(connection: Connection, mechanism: str) -> WeightsLine | None:
    """The newest that reached the chain."""
    columns = (SUBMISSIONS.id, SUBMISSIONS.state, SUBMISSIONS.reason, SUBMISSIONS.included_block)
    query = select(*columns).where(SUBMISSIONS.mechanism == mechanism, SUBMISSIONS.state.in_(REACHED))
    row = connection.execute(query.order_by(SUBMISSIONS.id.desc()).limit(1)).one_or_none()
    if row is None:
        return None
    whole = select(tables.submissions).where(SUBMISSIONS.id == row.id)
    return LAST.get(connection, mechanism, tuple(row), lambda: _parse_weights(connection.execute(whole).one()))


def list_weigh_ins(store: Store, mechanism: str, limit: int, before: int | None = None) -> tuple[AuditLine, ...]:
    """Every weigh-in, newest first: `kind` is submitted, skip or failed; with `before`, those older than that id."""
    columns = tables.audits.c
    query = select(tables.audits).where(columns.mechanism == mechanism, columns.kind.in_(ATTEMPT_KINDS))
    if before is not None:
        query = query.where(columns.id < before)
    with store.read() as connection:
        return tuple(AuditLine(*row) for row in connection.execute(query.order_by(columns.id.desc()).limit(limit)))


def list_shares(weights: Sequence[Sequence[int]], holders: Sequence[Sequence[Any]]) -> tuple[Share, ...]:
    """
    >>> list_shares([[3, 65535], [7, 65535]], [["a", 10], ["b", 12]])[0]
    Share(hotkey='a', uid=3, value=65535, share=0.5, name=None)
    """
    total = sum(value for _, value in weights) or 1
    both = zip(weights, holders, strict=True)
    shares = [Share(str(holder[0]), uid, value, value / total) for (uid, value), holder in both]
    return tuple(sorted(shares, key=lambda one: (-one.value, one.uid)))


def _parse_weights(row: Any) -> WeightsLine:
    plan, values = row.plan, [value for _, value in row.row]
    return WeightsLine(
        id=row.id,
        at=row.at,
        mode=plan["mode"],
        state=row.state,
        reason=row.reason,
        message=plan.get("message"),
        block=plan["block"],
        sent_block=row.sent_block,
        included_block=row.included_block,
        shares=list_shares(row.row, plan["holders"]),
        gini=gini(values),
        top1=top_share(values, 1),
        top3=top_share(values, 3),
        effective=effective_number(values),
    )
