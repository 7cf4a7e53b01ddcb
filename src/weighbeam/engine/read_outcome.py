"""What a committed round led to, as the journal holds it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """By hotkey: the round's scores, the standings after it, the uids of those asked."""

    round: str
    mechanism: str
    params_hash: str
    sequence: int
    at: float
    block: int
    scores: Mapping[str, float | None]
    statuses: Mapping[str, str]
    standings: Mapping[str, float | None]
    uids: Mapping[str, int | None]


def read_outcome(store: Store, round_id: str) -> Outcome:
    """`unknown_round` if the journal does not hold it, or not any more."""
    entries = tables.entries.c
    query = select(entries.sequence, entries.body).where(entries.kind == "round", entries.ref == round_id)
    with store.read() as connection:
        entry = connection.execute(query).one_or_none()
        if entry is None:
            raise WeighbeamError("unknown_round", f"no scored round is called {round_id!r}", "see weighbeam rounds")
        outcome = json.loads(read_blob(connection, entry.body))
        body = json.loads(read_blob(connection, outcome["body"]))
        answers = json.loads(read_blob(connection, body["answers"]))
    rows: list[Any] = outcome["scored"]["scores"]
    return Outcome(
        round=round_id,
        mechanism=body["mechanism"],
        params_hash=body["params_hash"],
        sequence=int(entry.sequence),
        at=float(body["at"]),
        block=int(body["block"]),
        scores={row["hotkey"]: row["value"] for row in rows},
        statuses={row["hotkey"]: row["status"] for row in rows},
        standings={hotkey: value for hotkey, value, _ in outcome["standings"]},
        uids={hotkey: uid for hotkey, uid, *_ in answers},
    )
