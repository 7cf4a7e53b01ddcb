"""Who tries what: copied answers, alerts of coordinated or worthless ones, miners whose reasons look like tricks."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, String, cast, func, select

from weighbeam.engine.alerts import Alert
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.novelty_tables import contributions

HOUR = 3600.0
MOST_ROUNDS = 2000
MOST_ROWS = 200
MOST_CONTRIBUTIONS = 10_000
ALERT_CODES = ("duplicate_answers", "low_quality_cluster", "all_low_quality", "void_round")
TRICKS: Mapping[str, tuple[str, ...]] = {
    "words of one's own in a chunking, or the document many times over": ("new_words", "too_large"),
    "answers that were flagged, or say the opposite": (
        "off_topic",
        "echo",
        "not_prose",
        "thin",
        "empty",
        "contradicts",
    ),
    "forged or copied evidence": ("fake_snippet", "snippet_not_found", "duplicate_statements", "too_similar"),
    "searches for evidence": ("search_url", "search_page"),
    "sources made for the purpose": ("blacklisted_domain", "forbidden_target", "recent_domain"),
    "contributions that are not new, or not meant": ("duplicate", "held", "refused", "implausible"),
}
SUSPICIOUS = frozenset(code for codes in TRICKS.values() for code in codes)


@dataclass(frozen=True, slots=True)
class Copies:
    """A group that gave the same answer; `cosine` and `overlap` are the least of any two."""

    round: str
    mechanism: str
    at: float
    hotkeys: tuple[str, ...]
    cosine: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """A miner with suspicious reasons: in how many rounds each, and in how many rounds any."""

    hotkey: str
    mechanism: str
    counts: Mapping[str, int]
    rounds: int


@dataclass(frozen=True, slots=True)
class Attacks:
    """What happened since `since`: copies and alerts newest first, 200 of each at most; suspects with most first, of
    the newest 2,000 rounds. `duplicates` and `held` are contributions to novelty, of its newest 10,000."""

    since: float
    copies: tuple[Copies, ...]
    alerts: tuple[Alert, ...]
    suspects: tuple[Suspect, ...]
    duplicates: int
    held: int


def read_attacks(store: Store, now: float, hours: float = 24.0) -> Attacks:
    since = now - hours * HOUR
    with store.read() as connection:
        return Attacks(
            since=since,
            copies=_list_copies(connection, since),
            alerts=_list_alerts(connection, since),
            suspects=_list_suspects(connection, since),
            duplicates=_count_contributions(connection, "duplicate", since),
            held=_count_contributions(connection, "held", since),
        )


def _list_copies(connection: Connection, since: float) -> tuple[Copies, ...]:
    columns = tables.copies.c
    named = (columns.round, columns.mechanism, columns.at, columns.hotkeys, columns.cosine, columns.overlap)
    query = select(*named).where(columns.at >= since).order_by(columns.at.desc(), columns.round, columns.number)
    rows = connection.execute(query.limit(MOST_ROWS))
    return tuple(Copies(row[0], row[1], row[2], tuple(row[3]), row[4], row[5]) for row in rows)


def _list_alerts(connection: Connection, since: float) -> tuple[Alert, ...]:
    columns = tables.alerts.c
    query = select(columns.at, columns.mechanism, columns.code, columns.level, columns.text)
    query = query.where(columns.code.in_(ALERT_CODES), columns.at >= since)
    return tuple(Alert(*row) for row in connection.execute(query.order_by(columns.at.desc()).limit(MOST_ROWS)))


def _list_suspects(connection: Connection, since: float) -> tuple[Suspect, ...]:
    rounds, scores = tables.rounds.c, tables.scores.c
    recent = select(rounds.id, rounds.mechanism).where(rounds.at >= since, rounds.state == "scored")
    chosen = recent.order_by(rounds.at.desc()).limit(MOST_ROUNDS).subquery().c
    said = cast(scores.reasons, String)
    query = select(chosen.mechanism, scores.hotkey, said).where(scores.round == chosen.id, said != "[]")
    counts: dict[tuple[str, str], Counter[str]] = {}
    rows: Counter[tuple[str, str]] = Counter()
    for mechanism, hotkey, reasons in connection.execute(query):
        found = SUSPICIOUS.intersection(json.loads(reasons))
        if found:
            counts.setdefault((mechanism, hotkey), Counter()).update(found)
            rows[mechanism, hotkey] += 1
    ordered = sorted(counts, key=lambda one: (-rows[one], one))
    return tuple(Suspect(one[1], one[0], dict(counts[one].most_common()), rows[one]) for one in ordered[:MOST_ROWS])


def _count_contributions(connection: Connection, status: str, since: float) -> int:
    columns = contributions.c
    newest = select(columns.at).where(columns.status == status).order_by(columns.id.desc()).limit(MOST_CONTRIBUTIONS)
    recent = newest.subquery().c
    return int(connection.scalar(select(func.count()).where(recent.at >= since)) or 0)
