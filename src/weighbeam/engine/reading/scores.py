"""One miner's scores, newest first."""

from dataclasses import dataclass

from sqlalchemy import select, tuple_

from weighbeam.engine.reading.pages import Page, cut_page, read_cursor
from weighbeam.store import tables
from weighbeam.store.database import Store

NAME = "scores"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """What one answer got."""

    round: str
    mechanism: str
    at: float
    block: int
    status: str
    value: float | None
    reasons: tuple[str, ...]


def list_scores(
    store: Store, hotkey: str, mechanism: str | None = None, cursor: str | None = None, most: int = 50
) -> Page[ScoreLine]:
    """All scores of a miner, or those of one mechanism."""
    rounds, scores, after = tables.rounds.c, tables.scores.c, read_cursor(cursor, NAME, float, str)
    query = (
        select(rounds.id, rounds.mechanism, rounds.at, rounds.block, scores.status, scores.value, scores.reasons)
        .select_from(tables.rounds.join(tables.scores, scores.round == rounds.id))
        .where(scores.hotkey == hotkey)
        .order_by(rounds.at.desc(), rounds.id.desc())
        .limit(most + 1)
    )
    if mechanism is not None:
        query = query.where(rounds.mechanism == mechanism)
    if after is not None:
        query = query.where(tuple_(rounds.at, rounds.id) < tuple_(*after))
    with store.read() as connection:
        lines = [ScoreLine(*row[:6], tuple(row[6])) for row in connection.execute(query)]
    return cut_page(lines, most, NAME, lambda line: (line.at, line.round))
