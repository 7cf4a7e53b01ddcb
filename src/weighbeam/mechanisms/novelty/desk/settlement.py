"""Operator decisions: release or reject a held contribution, withdraw a text."""

from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.intake import Receipt, RepeatedReceipt
from weighbeam.mechanisms.novelty.desk.ledger import LedgerTransaction
from weighbeam.mechanisms.novelty.desk.seals import is_sound, seal_contribution
from weighbeam.mechanisms.novelty.tables import contributions, settlements

DONE: dict[str, Literal["release", "reject"]] = {"released": "release", "rejected": "reject"}


def settle_held(desk: NoveltyDesk, contribution: int, outcome: Literal["released", "rejected"], now: float) -> Receipt:
    """Pay what was held, or give it back to the treasury; the same decision twice is the same receipt."""
    with desk.store.write() as connection:
        row = select_contribution(connection, contribution)
        before = connection.execute(select(settlements).where(settlements.c.contribution == contribution)).first()
        if before is not None and before.kind == outcome:
            return RepeatedReceipt(before.receipt)
        if row.status != "held" or before is not None:
            told = f"contribution {contribution} is {before.kind if before else row.status}"
            raise WeighbeamError("not_held", told, "see weighbeam novelty history --status held")
        sound = is_sound(connection, contribution)
        book = LedgerTransaction(connection, now)
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
        seal_contribution(connection, contribution, sound)
        return receipt


def withdraw(desk: NoveltyDesk, contribution: int) -> None:
    """Delete a text. Its hash and vectors stay, so that it cannot be paid again; what was paid stays paid."""
    with desk.store.erase(contributions) as connection:
        select_contribution(connection, contribution)
        chosen, sound = contributions.c.id == contribution, is_sound(connection, contribution)
        connection.execute(update(contributions).where(chosen).values(text=None, withdrawn=True))
        seal_contribution(connection, contribution, sound)


def select_contribution(connection: Connection, id: int) -> Row[Any]:
    row = connection.execute(select(contributions).where(contributions.c.id == id)).first()
    if row is None:
        told = f"no contribution has the number {id}"
        raise WeighbeamError("unknown_contribution", told, "see weighbeam novelty history")
    return row
