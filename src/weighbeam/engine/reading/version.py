"""How far a store is: a short text that changes whenever something that is shown does."""

import hashlib

from sqlalchemy import Select, func, select

from weighbeam.store import novelty_tables, tables
from weighbeam.store.database import Store

MOST_MOVING = 16


def read_version(store: Store) -> str:
    """The newest of everything that is added to, and where it stands what moves. A few looks at the ends of indices."""
    with store.read() as connection:
        seen = [tuple(row) for query in list_ends() for row in connection.execute(query)]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def list_ends() -> list[Select[tuple[object, ...]]]:
    entries, rounds, requests = tables.entries.c, tables.rounds.c, tables.requests.c
    sent, notices, graphs, todo = tables.submissions.c, tables.notices.c, tables.metagraphs.c, tables.outbox.c
    return [
        select(func.max(entries.sequence)),
        select(func.min(entries.sequence)),
        select(rounds.id, rounds.state).order_by(rounds.at.desc(), rounds.id.desc()).limit(1),
        select(func.max(tables.alerts.c.id)),
        select(func.max(tables.audits.c.id)),
        select(sent.id, sent.state, sent.reason, sent.included_block).order_by(sent.id.desc()).limit(MOST_MOVING),
        select(requests.mechanism, requests.state, func.count()).group_by(requests.mechanism, requests.state),
        select(graphs.mechanism, func.max(graphs.block)).group_by(graphs.mechanism),
        select(func.max(todo.id)),
        select(func.count()).where(todo.state == "waiting"),
        select(func.max(notices.raised), func.max(notices.closed), func.count()),
        select(func.max(novelty_tables.contributions.c.id)),
        select(func.max(novelty_tables.settlements.c.id)),
    ]
