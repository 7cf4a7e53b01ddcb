"""What an operator decides: release or reject what was held, withdraw a text."""

from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.novelty.desk import Desk
from weighbeam.novelty.ledger import Book
from weighbeam.novelty.take_in import Receipt, Repeat
from weighbeam.store.novelty_tables import contributions, settlements

DONE: dict[str, Literal["release", "reject"]] = {"released": "release", "rejected": "reject"}


def settle_held(desk: Desk, contribution: int, outcome: Literal["released", "rejected"], now: float) -> Receipt:
    """Pay what was held, or give it back to the treasury; the same decision twice is the same receipt."""
    with desk.store.write() as connection:
        row = find_contribution(connection, contribution)
        before = connection.execute(select(settlements).where(settlements.c.contribution == contribution)).first()
        if before is not None and before.kind == outcome:
            return Repeat(before.receipt)
        if row.status != "held" or before is not None:
            told = f"contribution {contribution} is {before.kind if before else row.status}"
            raise WeighbeamError("not_held", told, "see weighbeam novelty history --status held")
        book = Book(connection, now)
        book.settle(DONE[outcome], contribution, row.contributor, row.units)
        book.close()
        body = {
            "kind": "settlement",
            "id": contribution,
            "contributor": row.contributor,
            "at": now,
            "status": outcome,
            "text_sha256": row.text_sha256,
            "units": row.units,
            "ledger": book.head,
        }
        receipt = desk.rules.sign(body)
        values = {"contribution": contribution, "kind": outcome, "at": now, "units": row.units, "receipt": receipt}
        connection.execute(insert(settlements).values(**values))
        return receipt


def withdraw(desk: Desk, contribution: int) -> None:
    """Delete a text. Its hash and vectors stay, so that it cannot be paid again; what was paid stays paid."""
    with desk.store.erase(contributions) as connection:
        find_contribution(connection, contribution)
        chosen = contributions.c.id == contribution
        connection.execute(update(contributions).where(chosen).values(text=None, withdrawn=True))


def find_contribution(connection: Connection, id: int) -> Row[Any]:
    row = connection.execute(select(contributions).where(contributions.c.id == id)).first()
    if row is None:
        told = f"no contribution has the number {id}"
        raise WeighbeamError("unknown_contribution", told, "see weighbeam novelty history")
    return row
