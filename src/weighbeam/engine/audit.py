"""The audit trail: weigh-ins that submitted, skipped or failed, clean-ups, and what an operator did by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from weighbeam.store import tables
from weighbeam.store.database import Store

TRIES = ("skip", "submitted", "failed")


@dataclass(frozen=True, slots=True)
class Audit:
    """One line of the trail."""

    id: int
    at: float
    mechanism: str | None
    kind: str
    mode: str | None
    reason: str | None
    detail: Mapping[str, Any]


def write_audit(
    connection: Connection,
    at: float,
    kind: str,
    mechanism: str | None = None,
    mode: str | None = None,
    reason: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    connection.execute(
        insert(tables.audits).values(
            at=at, kind=kind, mechanism=mechanism, mode=mode, reason=reason, detail=dict(detail or {})
        )
    )


def list_tries(store: Store, mechanism: str, most: int) -> list[Audit]:
    """The last weigh-ins of a mechanism, newest first."""
    columns = tables.audits.c
    query = select(tables.audits).where(columns.mechanism == mechanism, columns.kind.in_(TRIES))
    with store.read() as connection:
        return [Audit(*row) for row in connection.execute(query.order_by(columns.id.desc()).limit(most))]
