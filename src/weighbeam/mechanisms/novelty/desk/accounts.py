"""Queries over a desk's store: balances, receipts, history."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.ledger import TREASURY, held_account, own_account, select_balance
from weighbeam.mechanisms.novelty.desk.settlement import select_contribution
from weighbeam.mechanisms.novelty.tables import accounts, contributions, pieces, settlements
from weighbeam.network.keys import is_address
from weighbeam.store.database import Store

MAX_RECENT = 10_000
LINE = ("id", "contributor", "at", "status", "units", "micro", "nearest", "text_sha256", "withdrawn")


def select_contributor_balance(store: Store, contributor: str) -> dict[str, Any]:
    """Balance of a contributor and units held for it; `unknown_contributor` if it never submitted."""
    with store.read() as connection:
        own = select_balance(connection, own_account(contributor))
        held = select_balance(connection, held_account(contributor))
    if own is None:
        told = f"no contributor is called {contributor!r}"
        raise WeighbeamError("unknown_contributor", told, "see weighbeam novelty balances")
    return {"contributor": contributor, "units": own, "held": held or 0}


def select_balances(store: Store, limit: int = 1000, after: str = "") -> list[dict[str, Any]]:
    """Every contributor by name, from the one after `after` on."""
    first = own_account("")
    names = (accounts.c.name > own_account(after)) if after else accounts.c.name.startswith(first, autoescape=True)
    query = select(accounts).where(names, accounts.c.name.startswith(first, autoescape=True))
    with store.read() as connection:
        rows = connection.execute(query.order_by(accounts.c.name).limit(limit)).all()
        return [
            {
                "contributor": (name := row.name.removeprefix(first)),
                "units": int(row.units),
                "held": select_balance(connection, held_account(name)) or 0,
            }
            for row in rows
        ]


def count_all(store: Store) -> dict[str, int]:
    """The whole in numbers: how much was paid and held, how much is in the corpus."""
    with store.read() as connection:
        treasury = select_balance(connection, TREASURY) or 0
        return {
            "treasury": treasury,
            "paid": _sum(connection, own_account("")),
            "held": _sum(connection, held_account("")),
            "contributors": _count(connection, accounts, accounts.c.name.startswith(own_account(""), autoescape=True)),
            "contributions": _count(connection, contributions),
            "pieces": _count(connection, pieces),
        }


def count_recent(connection: Connection, status: str, since: float) -> int:
    """Contributions of a status since then, of the newest 10,000 that have it."""
    columns = contributions.c
    newest = select(columns.at).where(columns.status == status).order_by(columns.id.desc()).limit(MAX_RECENT)
    recent = newest.subquery().c
    return int(connection.scalar(select(func.count()).where(recent.at >= since)) or 0)


def select_receipts(store: Store, contribution: int) -> dict[str, Any]:
    """The receipt of a contribution, and of its settlement if it was held and is not any more."""
    with store.read() as connection:
        row = select_contribution(connection, contribution)
        settled = connection.scalar(select(settlements.c.receipt).where(settlements.c.contribution == contribution))
    return {"receipt": row.receipt, "settlement": settled}


def select_history(
    store: Store, contributor: str | None = None, status: str | None = None, before: int | None = None, limit: int = 20
) -> list[dict[str, Any]]:
    """The newest contributions, from the one before `before` on; `status` is what became of it in the end.

    `micro` is the cosine, `similarity` what was paid for; without a second look they are one.
    """
    ended = func.coalesce(settlements.c.kind, contributions.c.status).label("ended")
    query = select(contributions, ended).outerjoin(settlements, settlements.c.contribution == contributions.c.id)
    if contributor is not None:
        query = query.where(contributions.c.contributor == contributor)
    if status is not None:
        query = query.where(ended == status)
    if before is not None:
        query = query.where(contributions.c.id < before)
    with store.read() as connection:
        rows = connection.execute(query.order_by(contributions.c.id.desc()).limit(limit)).all()
    return [
        {
            **{name: row._mapping[name] for name in LINE},
            "similarity": (row.receipt or {}).get("similarity", row.micro),
            "status": row.ended,
            "text": row.text,
        }
        for row in rows
    ]


def _sum(connection: Connection, prefix: str) -> int:
    chosen = accounts.c.name.startswith(prefix, autoescape=True)
    return int(connection.scalar(select(func.coalesce(func.sum(accounts.c.units), 0)).where(chosen)) or 0)


def _count(connection: Connection, table: Any, *chosen: Any) -> int:
    return int(connection.scalar(select(func.count()).select_from(table).where(*chosen)) or 0)


def select_texts(store: Store, ids: Sequence[int]) -> dict[int, str]:
    """Texts of miners' contributions by number; without those of an app's users, and those that were withdrawn."""
    columns = contributions.c
    query = select(columns.id, columns.text, columns.contributor).where(columns.id.in_(ids))
    with store.read() as connection:
        rows = connection.execute(query).all()
    return {row.id: row.text for row in rows if row.text is not None and is_address(row.contributor)}
