"""Collect hotkeys' contributions for a round, in commit order, as measured at submission."""

from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.canonical import Json
from weighbeam.mechanism.records import Answer, Collected
from weighbeam.mechanisms.novelty.events import Kind, NoveltyEvent
from weighbeam.mechanisms.novelty.facts import parse_facts
from weighbeam.mechanisms.novelty.plausibility import TextLook
from weighbeam.mechanisms.novelty.tables import contribution_facts, contributions, settlements
from weighbeam.network.keys import is_address
from weighbeam.store.database import Store

WITH_FACTS = contributions.outerjoin(contribution_facts, contribution_facts.c.contribution == contributions.c.id)
COUNTED = ("paid", "held", "duplicate")


class DeskCollector:
    """Contributions that a store's desk accepted or released. Names other than hotkeys cannot have weight."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self, cursor: Json, limit: int) -> Collected:
        after, settled = cursor if isinstance(cursor, list) else (0, 0)
        with self._store.read() as connection:
            given = _select_contributions(connection, int(after), limit)
            released = _select_releases(connection, int(settled), limit - len(given))
        said: dict[str, list[dict[str, Any]]] = {}
        events = [(row, _make_event(row, "contribution")) for row in given]
        events += [(row, _make_event(row, "release")) for row in released]
        for row, event in events:
            if is_address(row.contributor):
                said.setdefault(row.contributor, []).append(event.as_json())
        answers = tuple(Answer(name, {"contributions": rows}) for name, rows in said.items())
        until = [given[-1].id if given else after, released[-1].settled if released else settled]
        return Collected(answers, until, len(given) + len(released) < limit)


def _select_contributions(connection: Connection, after: int, limit: int) -> list[Row[Any]]:
    query = select(contributions, contribution_facts.c.facts).select_from(WITH_FACTS)
    query = query.where(contributions.c.id > after, contributions.c.status.in_(COUNTED))
    return list(connection.execute(query.order_by(contributions.c.id).limit(limit)))


def _select_releases(connection: Connection, after: int, limit: int) -> list[Row[Any]]:
    settled = settlements.c.id.label("settled"), settlements.c.at.label("settled_at")
    joined = WITH_FACTS.join(settlements, contributions.c.id == settlements.c.contribution)
    query = select(contributions, contribution_facts.c.facts, *settled).select_from(joined)
    chosen = query.where(settlements.c.id > after, settlements.c.kind == "released")
    return list(connection.execute(chosen.order_by(settlements.c.id).limit(max(0, limit))))


def _make_event(row: Row[Any], kind: Kind) -> NoveltyEvent:
    released = kind == "release"
    return NoveltyEvent(
        id=str(row.id),
        kind=kind,
        text_sha256=row.text_sha256,
        pieces=row.pieces,
        nearest=None if row.nearest is None else str(row.nearest),
        micro=row.micro,
        duplicate=row.status == "duplicate",
        look=None if row.look is None else TextLook.from_json(row.look),
        status="paid" if released else row.status,
        units=int(row.units),
        at=row.settled_at if released else row.at,
        facts=parse_facts(row.facts),
    )
