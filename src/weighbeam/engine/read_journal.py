"""What a journal says, for people: rounds, standings, and one miner's history."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.lay_out import read_seen, read_standings
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.emissions import read_averages
from weighbeam.mechanisms.contract import Mechanism
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
    """A store by path or URL; a file that does not exist, or holds nothing, is no journal and is not created."""
    file = Path(place.removeprefix("sqlite:///"))
    if "://" in place and not place.startswith("sqlite:///"):
        return Store(place)
    if not file.is_file():
        raise WeighbeamError("no_such_file", f"{file} does not exist", "name the journal of a validator")
    if not file.stat().st_size:
        raise WeighbeamError("empty_journal", f"{file} is empty", "name the journal of a validator")
    return Store(f"sqlite:///{file}")


def count_entries(store: Store) -> int:
    """How far the journal goes: the number of its last entry."""
    with store.read() as connection:
        return int(connection.scalar(select(func.max(tables.entries.c.sequence))) or 0)


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


def list_standings(store: Store, mechanism: Mechanism, averaging: Averaging) -> list[StandingLine]:
    """Everyone with a standing, best first, the unranked last; of averaged emissions, as of the newest round."""
    name = mechanism.name
    with store.read() as connection:
        standings = {s.hotkey: s.value for s in read_standings(connection, name)}
        if mechanism.rule.standing == "emissions":
            newest = connection.scalar(select(func.max(tables.rounds.c.at)).where(tables.rounds.c.mechanism == name))
            seen = read_seen(connection, name)
            averages = read_averages(connection, name, seen, newest or 0.0, averaging, lookback=True)
            standings = {hotkey: average.ema for hotkey, average in averages.items()}
        history = _read_history(connection, name)
    lines = [StandingLine(hotkey, value, *history.get(hotkey, (0, 0, ""))) for hotkey, value in standings.items()]
    sign = 1.0 if mechanism.better == "lower" else -1.0
    return sorted(lines, key=lambda line: (line.standing is None, sign * (line.standing or 0.0), line.hotkey))


def _read_history(connection: Connection, mechanism: str) -> dict[str, tuple[int, int, str]]:
    """By hotkey: rounds, valid answers, and the newest reason of a failure."""
    r, s = tables.rounds.c, tables.scores.c
    query = (
        select(s.hotkey, s.status, s.reasons)
        .select_from(tables.scores.join(tables.rounds, s.round == r.id))
        .where(r.mechanism == mechanism)
        .order_by(r.sequence)
    )
    found: dict[str, tuple[int, int, str]] = {}
    for hotkey, status, reasons in connection.execute(query):
        rounds, valid, last = found.get(hotkey, (0, 0, ""))
        found[hotkey] = rounds + 1, valid + (status == "valid"), ", ".join(reasons) or last
    return found


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
