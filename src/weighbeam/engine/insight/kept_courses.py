"""Courses as of the newest round, kept until there is a newer one: every look at one miner needs those of all."""

import threading
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, select

from weighbeam.engine.insight.courses import Course, read_courses
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables

Ends = tuple[int | None, int | None]
Key = tuple[type, str, Averaging]
ROUNDS = tables.rounds.c
KNOWN: WeakKeyDictionary[Engine, dict[Key, tuple[Ends, Mapping[str, Course]]]] = WeakKeyDictionary()
LOCK = threading.Lock()


def recall_courses(connection: Connection, mechanism: Mechanism, averaging: Averaging) -> Mapping[str, Course]:
    """As `read_courses` reads them; who asks while another reads waits for it."""
    ends, key = find_ends(connection, mechanism.name), (type(mechanism), mechanism.name, averaging)
    with LOCK:
        known = KNOWN.setdefault(connection.engine, {})
        kept = known.get(key)
        if kept is None or kept[0] != ends:
            kept = known[key] = ends, read_courses(connection, mechanism, averaging)
    return kept[1]


def find_ends(connection: Connection, mechanism: str) -> Ends:
    """The first and the last entry of a mechanism's rounds: one moves with every commit, the other with clean-ups."""
    query = select(ROUNDS.sequence).where(ROUNDS.mechanism == mechanism, ROUNDS.sequence.is_not(None)).limit(1)
    first = connection.scalar(query.order_by(ROUNDS.sequence))
    return first, connection.scalar(query.order_by(ROUNDS.sequence.desc()))
