"""The audit trail: weigh-ins that submitted, skipped or failed, clean-ups and manual actions; and when the next weigh-
in is due.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.engine.rules.intents import REACHED
from weighbeam.engine.rules.mode import ModeName
from weighbeam.engine.rules.schedule import AttemptKind, WeighInAttempt, find_due
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import insert_sealed

ATTEMPT_KINDS = ("skip", "submitted", "failed")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the trail."""

    id: int
    at: float
    mechanism: str | None
    kind: str
    mode: str | None
    reason: str | None
    detail: Mapping[str, Any]


def insert_audit(
    connection: Connection,
    at: float,
    kind: str,
    mechanism: str | None = None,
    mode: str | None = None,
    reason: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    row = {"at": at, "kind": kind, "mechanism": mechanism, "mode": mode, "reason": reason, "detail": dict(detail or {})}
    insert_sealed(connection, tables.audits, row)


def list_attempts(store: Store, mechanism: str, limit: int) -> list[AuditLine]:
    """The last weigh-ins of a mechanism, newest first."""
    columns = tables.audits.c
    query = select(tables.audits).where(columns.mechanism == mechanism, columns.kind.in_(ATTEMPT_KINDS))
    with store.read() as connection:
        return [AuditLine(*row) for row in connection.execute(query.order_by(columns.id.desc()).limit(limit))]


AUDITS, SUBMISSIONS = tables.audits.c, tables.submissions.c
MAX_TRIES = 10


def list_recent_attempts(connection: Connection, mechanism: str, now: float) -> list[AuditLine]:
    """Newest first; what is later than now was noted before the clock jumped back."""
    query = select(tables.audits).where(AUDITS.mechanism == mechanism, AUDITS.kind.in_(ATTEMPT_KINDS))
    rows = connection.execute(query.order_by(AUDITS.id.desc()).limit(MAX_TRIES))
    return [audit for audit in (AuditLine(*row) for row in rows) if audit.at <= now]


def select_next_due(connection: Connection, mechanism: str, tries: Sequence[AuditLine], now: float) -> float | None:
    """When a weigh-in is due; None before the first, when it is due at once."""
    query = select(SUBMISSIONS.at).where(SUBMISSIONS.mechanism == mechanism, SUBMISSIONS.state.in_(REACHED))
    last = connection.scalar(query.order_by(SUBMISSIONS.id.desc()).limit(1))
    due = find_due(last if last is None or last <= now else None, [parse_attempt(one) for one in tries])
    return due or None


def parse_attempt(audit: AuditLine) -> WeighInAttempt:
    """A chain that could not be read is tried again like a failed submission."""
    kinds: dict[str, AttemptKind] = {"skip": "skip", "submitted": "submitted", "failed": "failed"}
    if audit.reason == "chain_unreadable":
        kinds["skip"] = "failed"
    modes: dict[str | None, ModeName] = {"DEGRADED": "DEGRADED", "EMERGENCY": "EMERGENCY"}
    return WeighInAttempt(audit.at, kinds[audit.kind], modes.get(audit.mode, "NORMAL"))
