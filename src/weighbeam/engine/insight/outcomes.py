"""A miner's scores with their parts, and the best of the same rounds, from what the journal says each round led to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Pair, Score
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob


def read_pairs(connection: Connection, rounds: Sequence[str], hotkey: str) -> list[Pair]:
    """In the order given; a round whose content is gone is left out."""
    entries = tables.entries.c
    query = select(entries.ref, entries.body).where(entries.kind == "round", entries.ref.in_(list(rounds)))
    digests = {row.ref: row.body for row in connection.execute(query)}
    pairs = []
    for round_id in rounds:
        scores = _read_scores(connection, digests.get(round_id))
        own = next((score for score in scores if score.hotkey == hotkey), None)
        if own is not None:
            pairs.append((own, find_best(scores)))
    return pairs


def find_best(scores: Sequence[Score]) -> Score | None:
    """The valid score of the highest value; of equals, the first by name."""
    valid = [score for score in scores if score.status == "valid" and score.value is not None]
    return min(valid, key=lambda score: (-(score.value or 0.0), score.hotkey), default=None)


def _read_scores(connection: Connection, digest: str | None) -> list[Score]:
    if digest is None:
        return []
    try:
        rows = json.loads(read_blob(connection, digest))["scored"]["scores"]
    except WeighbeamError:
        return []
    return [_read(row) for row in rows]


def _read(row: Mapping[str, Any]) -> Score:
    return Score(row["hotkey"], row["status"], row["value"], row["parts"], tuple(row["reasons"]))
