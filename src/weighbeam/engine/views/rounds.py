"""Rounds of a journal, newest first, and the mechanisms and parameters they were played with."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, exists, func, select, tuple_

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.paging import ListPage, cut_page, parse_cursor
from weighbeam.mechanism.records import COLLECTED
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob
from weighbeam.store.database import Store


def list_mechanisms(store: Store) -> list[str]:
    """Every mechanism that played a round or made a weigh-in, by name."""
    tried = tables.audits.c.mechanism
    played, weighed = select(tables.rounds.c.mechanism), select(tried).where(tried.is_not(None))
    with store.read() as connection:
        return sorted(connection.scalars(played.union(weighed)))


def select_params_hash(store: Store, mechanism: str) -> str | None:
    """Of the newest round of a mechanism, scored or not; None if there is none."""
    columns = tables.rounds.c
    query = select(columns.body).where(columns.mechanism == mechanism).order_by(columns.at.desc()).limit(1)
    with store.read() as connection:
        digest = connection.scalar(query)
        return None if digest is None else str(json.loads(select_blob(connection, digest))["params_hash"])


Kind = Literal["synthetic", "organic", "collected"]
STATES = ("observed", "scored", "discarded")
NAME = "rounds"
SETTLE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A round in short. `answers` counts those scored, so a round that is not scored has none.

    `void`: it is scored and none of its answers counts, so no standing follows from it.
    """

    id: str
    mechanism: str
    state: str
    at: float
    block: int
    answers: int
    valid: int
    kind: Kind
    void: bool = False

    @property
    def outcome(self) -> str:
        """The state for people: a void round was scored, but does not look like one."""
        return "void" if self.void else self.state


def list_rounds(
    store: Store,
    mechanism: str | None = None,
    state: str | None = None,
    hotkey: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> ListPage[RoundLine]:
    """Rounds of a mechanism, in a state, or with an answer of one miner that was scored."""
    columns, after = tables.rounds.c, parse_cursor(cursor, NAME, float, str)
    query = _select_lines().order_by(columns.at.desc(), columns.id.desc()).limit(limit + 1)
    if after is not None:
        query = query.where(tuple_(columns.at, columns.id) < tuple_(*after))
    if mechanism is not None:
        query = query.where(columns.mechanism == mechanism)
    if state is not None:
        query = query.where(columns.state == state)
    if hotkey is not None:
        given = exists().where(tables.scores.c.round == columns.id, tables.scores.c.hotkey == hotkey)
        query = query.where(given)
    with store.read() as connection:
        rows = connection.execute(query).all()
        collected = _find_collected(connection, {row.mechanism: row.body for row in rows})
        lines = [_parse_line(row, row.mechanism in collected) for row in rows]
    return cut_page(lines, limit, NAME, lambda line: (line.at, line.id))


def is_settled(store: Store, round_id: str, now: float) -> bool:
    """Whether nothing is to be added to a round: it is scored, and its story has had the time to be told."""
    columns = tables.rounds.c
    query = select(columns.at).where(columns.id == round_id, columns.state == "scored")
    with store.read() as connection:
        at = connection.scalar(query)
    return at is not None and now - at > SETTLE_SECONDS


def _select_lines() -> Select[Any]:
    columns, scores, requests = tables.rounds.c, tables.scores.c, tables.requests.c
    of_round = select(func.count()).select_from(tables.scores).where(scores.round == columns.id)
    return select(
        columns.id,
        columns.mechanism,
        columns.state,
        columns.at,
        columns.block,
        columns.body,
        of_round.correlate(tables.rounds).scalar_subquery().label("answers"),
        of_round.where(scores.status == "unscored").correlate(tables.rounds).scalar_subquery().label("unscored"),
        of_round.where(scores.status == "valid").correlate(tables.rounds).scalar_subquery().label("valid"),
        exists().where(requests.round == columns.id).correlate(tables.rounds).label("asked"),
    )


def _find_collected(connection: Connection, bodies: Mapping[str, str]) -> set[str]:
    """Those mechanisms that ask nobody, by the record of one round of each: none is loaded to say so."""
    found = set()
    for name, digest in bodies.items():
        # A record that is damaged is a replay's to name; the list is shown.
        with suppress(WeighbeamError):
            body = json.loads(select_blob(connection, digest))
            if is_collected(json.loads(select_blob(connection, body["task"]))):
                found.add(name)
    return found


def is_collected(task: Mapping[str, Any]) -> bool:
    return bool(task["id"] == COLLECTED)


def _parse_line(row: Row[Any], collected: bool) -> RoundLine:
    kind = name_kind(bool(row.asked), collected)
    void = 0 < row.answers == row.unscored
    return RoundLine(row.id, row.mechanism, row.state, row.at, row.block, row.answers, row.valid, kind, void)


def name_kind(asked: bool, collected: bool) -> Kind:
    """Where a round's question came from: a user, the validator itself, or nowhere because nobody is asked."""
    if asked:
        return "organic"
    return "collected" if collected else "synthetic"
