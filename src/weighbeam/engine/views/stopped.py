"""Attacks that were stopped, by what was tried, and what they would have earned.

Everything is from what rounds recorded. An answer was stopped if it failed for a suspicious reason, or if it was a
copy: copies share the pay of one answer. What a kind of attack would have earned is an estimate: in each round, the
part of the pay it would have had if each of its answers had counted like an average valid answer.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, String, cast, func, select
from sqlalchemy.sql.expression import Subquery

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.weights import select_last_set
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store

HOUR = 3600.0
MAX_ROUNDS = 2000
COPIED = "copied answers"


@dataclass(frozen=True, slots=True)
class StoppedAttack:
    """One kind of attack on one mechanism. `would_earn` is the estimated share of the pay of its rounds, `earn` the
    share of the last weights that these miners have, None for copies, among whom is the one that was copied; `reasons`
    are the codes that stopped it."""

    mechanism: str
    what: str
    reasons: tuple[str, ...]
    answers: int
    rounds: int
    miners: tuple[str, ...]
    would_earn: float
    earn: float | None


@dataclass
class Tally:
    """Answers of one kind of attack, by round."""

    by_round: Counter[str] = field(default_factory=Counter)
    miners: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, round_id: str, hotkey: str, reasons: set[str]) -> None:
        self.by_round[round_id] += 1
        self.miners[hotkey] += 1
        self.reasons.update(reasons)


def select_stopped(store: Store, now: float, hours: float = 24.0) -> tuple[StoppedAttack, ...]:
    """Of the last hours, at most the newest 2,000 rounds; what would have earned most comes first."""
    with store.read() as connection:
        chosen = _choose_rounds(now - hours * HOUR)
        valid = _count_valid(connection, chosen)
        tallies = _tally_failures(connection, chosen)
        _tally_copies(connection, valid, tallies)
        paid = {name: _select_paid(connection, name) for name in {name for name, _ in tallies}}
    stopped: Counter[str] = Counter()
    for tally in tallies.values():
        stopped.update(tally.by_round)
    found = [
        StoppedAttack(
            mechanism=mechanism,
            what=what,
            reasons=tuple(sorted(tally.reasons)),
            answers=tally.by_round.total(),
            rounds=len(tally.by_round),
            miners=tuple(hotkey for hotkey, _ in tally.miners.most_common()),
            would_earn=_estimate(tally, valid, stopped),
            earn=None if what == COPIED else _add_up(tally, paid[mechanism]),
        )
        for (mechanism, what), tally in tallies.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.would_earn, one.mechanism, one.what)))


def _choose_rounds(since: float) -> Subquery:
    rounds = tables.rounds.c
    recent = select(rounds.id, rounds.mechanism).where(rounds.at >= since, rounds.state == "scored")
    return recent.order_by(rounds.at.desc()).limit(MAX_ROUNDS).subquery()


def _count_valid(connection: Connection, chosen: Subquery) -> dict[str, int]:
    """By round; rounds without a valid answer too."""
    scores = tables.scores.c
    valid = func.count().filter(scores.status == "valid")
    query = select(chosen.c.id, valid).where(scores.round == chosen.c.id).group_by(chosen.c.id)
    return {row[0]: row[1] for row in connection.execute(query)}


def _tally_failures(connection: Connection, chosen: Subquery) -> dict[tuple[str, str], Tally]:
    scores, tallies = tables.scores.c, defaultdict[tuple[str, str], Tally](Tally)
    said = cast(scores.reasons, String)
    query = select(chosen.c.mechanism, chosen.c.id, scores.hotkey, said).where(
        scores.round == chosen.c.id, scores.status == "failed", said != "[]"
    )
    words: dict[str, Mapping[str, str]] = {}
    for mechanism, round_id, hotkey, reasons in connection.execute(query):
        known = words.setdefault(mechanism, find_suspicious(mechanism))
        kinds: dict[str, set[str]] = {}
        for reason in json.loads(reasons):
            if reason in known:
                kinds.setdefault(known[reason], set()).add(reason)
        for what, codes in kinds.items():
            tallies[mechanism, what].count(round_id, hotkey, codes)
    return tallies


def _tally_copies(connection: Connection, rounds: Mapping[str, int], tallies: dict[tuple[str, str], Tally]) -> None:
    """All of a group but one: who copied whom is not known, so all of them are named."""
    columns = tables.copies.c
    query = select(columns.round, columns.mechanism, columns.hotkeys).order_by(columns.at.desc()).limit(MAX_ROUNDS)
    for round_id, mechanism, hotkeys in connection.execute(query):
        if round_id in rounds and len(hotkeys) > 1:
            tally = tallies.setdefault((mechanism, COPIED), Tally())
            tally.by_round[round_id] += len(hotkeys) - 1
            tally.miners.update(hotkeys)


def find_suspicious(mechanism: str) -> Mapping[str, str]:
    """Reason to what it is a sign of; nothing for a mechanism that is not installed any more."""
    try:
        return load_mechanism(mechanism).suspicious
    except WeighbeamError:
        return {}


def _estimate(tally: Tally, valid: Mapping[str, int], stopped: Mapping[str, int]) -> float:
    shares = [count / (valid.get(one, 0) + stopped[one]) for one, count in tally.by_round.items()]
    return sum(shares) / len(shares)


def _select_paid(connection: Connection, mechanism: str) -> Mapping[str, float] | None:
    last = select_last_set(connection, mechanism)
    return None if last is None else {one.hotkey: one.share for one in last.shares}


def _add_up(tally: Tally, paid: Mapping[str, float] | None) -> float | None:
    return None if paid is None else sum(paid.get(hotkey, 0.0) for hotkey in tally.miners)
