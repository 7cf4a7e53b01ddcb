"""The last rounds of a mechanism: what tables for people count over, so that a long journal costs no more than a day.

The last 24 hours before the newest round, and of those the newest 500 rounds.
"""

import json
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Select, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.mechanisms.make_params import make_params
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob

DAY = 24 * 3600.0
MOST_ROUNDS = 500
ROUNDS = tables.rounds.c


def find_newest(connection: Connection, mechanism: str) -> float | None:
    """When the newest scored round of a mechanism was."""
    query = select(ROUNDS.at).where(ROUNDS.mechanism == mechanism, ROUNDS.state == "scored")
    newest: float | None = connection.scalar(query.order_by(ROUNDS.at.desc()).limit(1))
    return newest


def is_newest_last(connection: Connection, mechanism: str) -> bool:
    """Whether the last round of the journal has the latest time: not while the clock is behind what it was."""
    query = select(ROUNDS.at).where(ROUNDS.mechanism == mechanism, ROUNDS.state == "scored")
    return connection.scalar(query.order_by(ROUNDS.sequence.desc()).limit(1)) == find_newest(connection, mechanism)


def choose_recent(mechanism: str, newest: float) -> Select[Any]:
    """The rounds counted over: id and time."""
    query = select(ROUNDS.id, ROUNDS.at, ROUNDS.sequence).where(
        ROUNDS.mechanism == mechanism, ROUNDS.at >= newest - DAY
    )
    return query.where(ROUNDS.state == "scored").order_by(ROUNDS.at.desc()).limit(MOST_ROUNDS)


def read_params(connection: Connection, mechanism: Mechanism) -> Params:
    """The parameters of the newest round; the mechanism's own if there is none, or it knows them no more."""
    query = select(ROUNDS.body).where(ROUNDS.mechanism == mechanism.name, ROUNDS.state == "scored")
    digest = connection.scalar(query.order_by(ROUNDS.sequence.desc()).limit(1))
    if digest is not None:
        with suppress(WeighbeamError):
            return make_params(mechanism, json.loads(read_blob(connection, digest))["params"])
    return make_params(mechanism)
