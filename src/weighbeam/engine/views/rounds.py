"""Rounds of a journal, newest first, and the mechanisms and parameters they were played with."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    and_,
    cast,
    exists,
    func,
    not_,
    or_,
    select,
    tuple_,
)

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


@dataclass(frozen=True, slots=True)
class RoundFilter:
    """Which rounds are looked for; what is None leaves all. `outcome` is a state, or `void`.

    `miner` is the hotkey of an answer, or a part of it unless it is `whole`; `hotkeys` are others that count.
    `reason` is one of such an answer's.
    """

    mechanism: str | None = None
    outcome: str | None = None
    miner: str | None = None
    whole: bool = False
    hotkeys: tuple[str, ...] = ()
    reason: str | None = None
    since: float | None = None
    until: float | None = None

    @property
    def searches_answers(self) -> bool:
        return self.miner is not None or self.reason is not None or self.outcome == VOID


VOID = "void"
OUTCOMES = (*STATES, VOID)
MAX_SEARCHED = 20_000
"""Rounds whose answers are searched: what nobody has would else be looked for in all of them."""


@dataclass(frozen=True, slots=True)
class FoundRounds:
    """The newest rounds that were looked for; `cut` if older ones were not searched."""

    lines: tuple[RoundLine, ...]
    cut: bool = False


def find_rounds(store: Store, wanted: RoundFilter, limit: int) -> FoundRounds:
    """The newest of them, so many at most."""
    columns = tables.rounds.c
    query = _select_lines().order_by(columns.at.desc(), columns.id.desc()).limit(limit)
    for condition in _list_conditions(wanted):
        query = query.where(condition)
    with store.read() as connection:
        oldest = _find_oldest(connection, wanted) if wanted.searches_answers else None
        if oldest is not None:
            query = query.where(columns.at >= oldest)
        return FoundRounds(_read_lines(connection, query), oldest is not None)


def _find_oldest(connection: Connection, wanted: RoundFilter) -> float | None:
    """When the last round was that is searched, None if all are."""
    columns = tables.rounds.c
    query = select(columns.at).order_by(columns.at.desc()).offset(MAX_SEARCHED - 1).limit(1)
    for condition in _list_conditions(RoundFilter(wanted.mechanism, since=wanted.since, until=wanted.until)):
        query = query.where(condition)
    oldest: float | None = connection.scalar(query)
    return oldest


def _list_conditions(wanted: RoundFilter) -> Iterator[ColumnElement[bool]]:
    columns, scores = tables.rounds.c, tables.scores.c
    if wanted.mechanism is not None:
        yield columns.mechanism == wanted.mechanism
    if wanted.since is not None:
        yield columns.at >= wanted.since
    if wanted.until is not None:
        yield columns.at <= wanted.until
    if wanted.outcome is not None:
        judged, some = exists().where(scores.round == columns.id, scores.status != "unscored"), exists()
        void = and_(columns.state == "scored", some.where(scores.round == columns.id), not_(judged))
        yield void if wanted.outcome == VOID else and_(columns.state == wanted.outcome, not_(void))
    answer: list[ColumnElement[bool]] = []
    if wanted.miner is not None:
        part = func.lower(scores.hotkey).contains(wanted.miner.lower(), autoescape=True)
        held = scores.hotkey == wanted.miner if wanted.whole else part
        answer.append(or_(held, scores.hotkey.in_(wanted.hotkeys)))
    if wanted.reason is not None:
        answer.append(cast(scores.reasons, String).contains(json.dumps(wanted.reason), autoescape=True))
    if answer:
        yield exists().where(scores.round == columns.id, *answer)


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
        lines = _read_lines(connection, query)
    return cut_page(lines, limit, NAME, lambda line: (line.at, line.id))


def is_settled(store: Store, round_id: str, now: float) -> bool:
    """Whether a round is final: it is scored, and its narrative had time to arrive."""
    columns = tables.rounds.c
    query = select(columns.at).where(columns.id == round_id, columns.state == "scored")
    with store.read() as connection:
        at = connection.scalar(query)
    return at is not None and now - at > SETTLE_SECONDS


def _read_lines(connection: Connection, query: Select[Any]) -> tuple[RoundLine, ...]:
    rows = connection.execute(query).all()
    collected = _find_collected(connection, {row.mechanism: row.body for row in rows})
    return tuple(_parse_line(row, row.mechanism in collected) for row in rows)


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
