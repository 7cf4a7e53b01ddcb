"""What the newest round was scored under."""

import json

from sqlalchemy import select

from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store


def find_params_hash(store: Store, mechanism: str) -> str | None:
    """Of the newest round of a mechanism, scored or not; None if there is none."""
    columns = tables.rounds.c
    query = select(columns.body).where(columns.mechanism == mechanism).order_by(columns.at.desc()).limit(1)
    with store.read() as connection:
        digest = connection.scalar(query)
        return None if digest is None else str(json.loads(read_blob(connection, digest))["params_hash"])
