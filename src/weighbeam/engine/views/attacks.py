"""Signs of attacks: copied answers, alerts of coordinated or worthless ones, miners with suspicious reasons."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from sqlalchemy import Connection, String, cast, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alert
from weighbeam.engine.views.names import NameBook
from weighbeam.mechanism.registry import load_mechanism, load_mechanisms
from weighbeam.store import tables
from weighbeam.store.database import Store

HOUR = 3600.0
MAX_ROUNDS = 2000
MAX_ROWS = 200
ALERT_CODES = ("duplicate_answers", "low_quality_cluster", "all_low_quality", "void_round")


@dataclass(frozen=True, slots=True)
class CopiedAnswers:
    """A group that gave the same answer, with the names of its miners; `cosine` and `overlap` are the least of any
    two."""

    round: str
    mechanism: str
    at: float
    hotkeys: tuple[str, ...]
    cosine: float
    overlap: float
    names: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspect:
    """A miner with suspicious reasons: in how many rounds each, and in how many rounds any."""

    hotkey: str
    mechanism: str
    counts: Mapping[str, int]
    rounds: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class AttackSummary:
    """Attacks since `since`: copies and alerts newest first, 200 of each at most; suspects with most first, of
    the newest 2,000 rounds. `duplicates` and `held` count contributions, as mechanisms that collect them do."""

    since: float
    copies: tuple[CopiedAnswers, ...]
    alerts: tuple[Alert, ...]
    suspects: tuple[Suspect, ...]
    duplicates: int
    held: int


def select_attacks(store: Store, now: float, hours: float = 24.0) -> AttackSummary:
    since = now - hours * HOUR
    with store.read() as connection:
        contributions = _count_contributions(connection, since)
        return AttackSummary(
            since=since,
            copies=_list_copies(connection, since),
            alerts=_list_alerts(connection, since),
            suspects=_list_suspects(connection, since),
            duplicates=contributions["duplicate"],
            held=contributions["held"],
        )


def name_attackers(seen: AttackSummary, book: NameBook) -> AttackSummary:
    """The same with the names of the miners."""
    copies = (replace(one, names=book.name_each(one.hotkeys, one.mechanism)) for one in seen.copies)
    suspects = (book.name_line(one, one.mechanism) for one in seen.suspects)
    return replace(seen, copies=tuple(copies), suspects=tuple(suspects))


def _list_copies(connection: Connection, since: float) -> tuple[CopiedAnswers, ...]:
    columns = tables.copies.c
    named = (columns.round, columns.mechanism, columns.at, columns.hotkeys, columns.cosine, columns.overlap)
    query = select(*named).where(columns.at >= since).order_by(columns.at.desc(), columns.round, columns.number)
    rows = connection.execute(query.limit(MAX_ROWS))
    return tuple(CopiedAnswers(row[0], row[1], row[2], tuple(row[3]), row[4], row[5]) for row in rows)


def _list_alerts(connection: Connection, since: float) -> tuple[Alert, ...]:
    columns = tables.alerts.c
    query = select(columns.at, columns.mechanism, columns.code, columns.level, columns.text)
    query = query.where(columns.code.in_(ALERT_CODES), columns.at >= since)
    return tuple(Alert(*row) for row in connection.execute(query.order_by(columns.at.desc()).limit(MAX_ROWS)))


@cache
def list_suspicious(mechanism: str) -> frozenset[str]:
    """The reasons that point to an attack on it; none of a mechanism that is not installed any more."""
    try:
        return frozenset(load_mechanism(mechanism).suspicious)
    except WeighbeamError:
        return frozenset()


def _list_suspects(connection: Connection, since: float) -> tuple[Suspect, ...]:
    rounds, scores = tables.rounds.c, tables.scores.c
    recent = select(rounds.id, rounds.mechanism).where(rounds.at >= since, rounds.state == "scored")
    chosen = recent.order_by(rounds.at.desc()).limit(MAX_ROUNDS).subquery().c
    said = cast(scores.reasons, String)
    query = select(chosen.mechanism, scores.hotkey, said).where(scores.round == chosen.id, said != "[]")
    counts: dict[tuple[str, str], Counter[str]] = {}
    rows: Counter[tuple[str, str]] = Counter()
    for mechanism, hotkey, reasons in connection.execute(query):
        found = list_suspicious(mechanism).intersection(json.loads(reasons))
        if found:
            counts.setdefault((mechanism, hotkey), Counter()).update(found)
            rows[mechanism, hotkey] += 1
    ordered = sorted(counts, key=lambda one: (-rows[one], one))
    return tuple(Suspect(one[1], one[0], dict(counts[one].most_common()), rows[one]) for one in ordered[:MAX_ROWS])


def _count_contributions(connection: Connection, since: float) -> Counter[str]:
    counts: Counter[str] = Counter()
    for mechanism in load_mechanisms().values():
        counts.update(mechanism.count_suspicious(connection, since))
    return counts
