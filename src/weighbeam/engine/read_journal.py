"""What a journal says, for people: rounds, standings, and one miner's history."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class RoundLine:
    id: str
    mechanism: str
    state: str
    at: float
    block: int
    answers: int
    valid: int


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A miner's standing and how its last rounds went."""

    hotkey: str
    standing: float | None
    rounds: int
    valid: int
    last_reason: str


@dataclass(frozen=True, slots=True)
class ScoreLine:
    round: str
    block: int
    status: str
    value: float | None
    reasons: str


def open_journal(place: str) -> Store:
    """A store by path or URL; a path that does not exist is not created."""
    if "://" not in place and not Path(place).is_file():
        raise WeighbeamError("no_such_file", f"{place} does not exist", "name the journal of a validator")
    return Store(place if "://" in place else f"sqlite:///{place}")


def list_rounds(store: Store, most: int) -> list[RoundLine]:
    """The newest rounds, newest first."""
    r, s = tables.rounds.c, tables.scores.c
    query = (
        select(
            r.id, r.mechanism, r.state, r.at, r.block, func.count(s.hotkey), func.count().filter(s.status == "valid")
        )
        .select_from(tables.rounds.outerjoin(tables.scores, s.round == r.id))
        .group_by(r.id, r.mechanism, r.state, r.at, r.block)
        .order_by(r.at.desc(), r.id)
        .limit(most)
    )
    with store.read() as connection:
        return [RoundLine(*row) for row in connection.execute(query)]


def list_standings(store: Store, mechanism: str) -> list[StandingLine]:
    """Everyone with a standing, in the order of the standing's value (lower first), the unranked last."""
    with store.read() as connection:
        standings = connection.execute(
            select(tables.standings.c.hotkey, tables.standings.c.value).where(tables.standings.c.mechanism == mechanism)
        ).all()
    lines = []
    for hotkey, value in standings:
        history = list_scores(store, hotkey, mechanism)
        reason = next((line.reasons for line in history if line.reasons), "")
        valid = sum(line.status == "valid" for line in history)
        lines.append(StandingLine(hotkey, value, len(history), valid, reason))
    return sorted(lines, key=lambda line: (line.standing is None, line.standing or 0.0, line.hotkey))


def list_scores(store: Store, hotkey: str, mechanism: str, most: int = 100) -> list[ScoreLine]:
    """One miner's scores, newest first."""
    r, s = tables.rounds.c, tables.scores.c
    query = (
        select(r.id, r.block, s.status, s.value, s.reasons)
        .select_from(tables.scores.join(tables.rounds, s.round == r.id))
        .where(s.hotkey == hotkey, r.mechanism == mechanism)
        .order_by(r.sequence.desc())
        .limit(most)
    )
    with store.read() as connection:
        return [ScoreLine(*row[:4], ", ".join(row[4])) for row in connection.execute(query)]
