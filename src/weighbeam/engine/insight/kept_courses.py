"""Courses as of the newest round, kept until there is a newer one: every look at one miner needs those of all."""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from weighbeam.engine.insight.courses import Course, read_courses
from weighbeam.engine.insight.kept import Kept
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables

ROUNDS = tables.rounds.c
COURSES: Kept[Mapping[str, Course]] = Kept()


def recall_courses(connection: Connection, mechanism: Mechanism, averaging: Averaging) -> Mapping[str, Course]:
    """As `read_courses` reads them."""
    key, mark = (type(mechanism), mechanism.name, averaging), find_ends(connection, mechanism.name)
    return COURSES.get(connection, key, mark, lambda: read_courses(connection, mechanism, averaging))


def find_ends(connection: Connection, mechanism: str) -> tuple[int | None, int | None]:
    """The first and the last entry of a mechanism's rounds: one moves with every commit, the other with clean-ups."""
    query = select(ROUNDS.sequence).where(ROUNDS.mechanism == mechanism, ROUNDS.sequence.is_not(None)).limit(1)
    first = connection.scalar(query.order_by(ROUNDS.sequence))
    return first, connection.scalar(query.order_by(ROUNDS.sequence.desc()))
