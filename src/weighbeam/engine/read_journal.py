"""A journal opened to be read, and the standings it holds."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.lay_out import read_seen, read_standings
from weighbeam.engine.reading.history import History, read_history
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.emissions import read_averages
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A miner's standing and how its last rounds went."""

    hotkey: str
    standing: float | None
    rounds: int
    valid: int
    last_reason: str


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
        history = read_history(store, connection, name)
    lines = [_write_line(hotkey, value, history.get(hotkey, History())) for hotkey, value in standings.items()]
    sign = 1.0 if mechanism.better == "lower" else -1.0
    return sorted(lines, key=lambda line: (line.standing is None, sign * (line.standing or 0.0), line.hotkey))


def _write_line(hotkey: str, standing: float | None, history: History) -> StandingLine:
    return StandingLine(hotkey, standing, history.rounds, history.valid, history.last_reason)
