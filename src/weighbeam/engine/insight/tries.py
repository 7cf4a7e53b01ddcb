"""The last weigh-ins of a mechanism, and when the next one is due: what the validator's own loop goes by."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from weighbeam.engine.audit import TRIES, Audit
from weighbeam.engine.intent import REACHED
from weighbeam.engine.weigh_in.mode import ModeName
from weighbeam.engine.weigh_in.schedule import Try, TryKind, find_due
from weighbeam.store import tables

AUDITS, SUBMISSIONS = tables.audits.c, tables.submissions.c
MOST_TRIES = 10


def list_recent_tries(connection: Connection, mechanism: str, now: float) -> list[Audit]:
    """Newest first; what is later than now was noted before the clock jumped back."""
    query = select(tables.audits).where(AUDITS.mechanism == mechanism, AUDITS.kind.in_(TRIES))
    rows = connection.execute(query.order_by(AUDITS.id.desc()).limit(MOST_TRIES))
    return [audit for audit in (Audit(*row) for row in rows) if audit.at <= now]


def find_next(connection: Connection, mechanism: str, tries: Sequence[Audit], now: float) -> float | None:
    """When a weigh-in is due; None before the first, when it is due at once."""
    query = select(SUBMISSIONS.at).where(SUBMISSIONS.mechanism == mechanism, SUBMISSIONS.state.in_(REACHED))
    last = connection.scalar(query.order_by(SUBMISSIONS.id.desc()).limit(1))
    due = find_due(last if last is None or last <= now else None, [read_try(one) for one in tries])
    return due or None


def read_try(audit: Audit) -> Try:
    """A chain that could not be read is tried again like a failed submission."""
    kinds: dict[str, TryKind] = {"skip": "skip", "submitted": "submitted", "failed": "failed"}
    if audit.reason == "chain_unreadable":
        kinds["skip"] = "failed"
    modes: dict[str | None, ModeName] = {"DEGRADED": "DEGRADED", "EMERGENCY": "EMERGENCY"}
    return Try(audit.at, kinds[audit.kind], modes.get(audit.mode, "NORMAL"))
