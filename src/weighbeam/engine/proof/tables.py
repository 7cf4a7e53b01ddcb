"""Checks of tables that follow from a journal's entries, beyond those that a replay compares entry by entry."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from weighbeam.core.stats import move_average
from weighbeam.engine.journal.fold import FindMechanism
from weighbeam.engine.journal.recall import load_round
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.requests.organic import format_result
from weighbeam.engine.rules.averages import Evaluation
from weighbeam.store import tables

UNPROVEN = {
    "locks": "the validator that runs now",
    "memory": "caches; what collection and a desk read of it is checked",
    "metagraphs": "sightings of the chain",
    "notices": "open alerts; the alerts themselves are evidence",
    "outbox": "jobs after a round",
    "requests": "a queue; results are compared with their rounds",
    "tokens": "tokens of the API",
}
"""Tables that `replay` does not prove as a whole, and why; docs/spec/journal.md says more."""
NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
FOLD_SETTINGS = re.compile(rf"{NUMBER}/{NUMBER}/zero")
ROUND_TABLES = (tables.scores, tables.standing_history, tables.round_blobs)


def find_fold_faults(
    connection: Connection, mechanism: str, state: ReplayState | None, settings: Collection[str], complete: bool
) -> Iterator[str]:
    """Averages that the next weigh-in would continue from, folded again from the emissions.

    `settings` names the ways the weigh-ins averaged. Where the journal is not `complete`, those of weigh-ins that were
    removed are not known, and an average that begins with a round that was removed is never continued.
    """
    for row in connection.execute(select(tables.folds).where(tables.folds.c.mechanism == mechanism)):
        fault = _find_fold_fault(row, state.emissions.get(row.hotkey, []) if state else [], settings, complete)
        if fault is not None:
            yield f"the average of {row.hotkey} {fault}"


def _find_fold_fault(
    row: Row[Any], emissions: Sequence[Evaluation], settings: Collection[str], complete: bool
) -> str | None:
    if row.settings not in settings and (complete or not FOLD_SETTINGS.fullmatch(row.settings)):
        return f"was made under settings that no weigh-in used: {row.settings!r:.100}"
    ordered = sorted(emissions, key=lambda one: (one.at, one.round))
    places = {one.round: place for place, one in enumerate(ordered)}
    if row.oldest not in places and not complete:
        return None
    if row.oldest not in places or row.newest not in places:
        return "begins or ends with a missing round"
    part, ema = ordered[places[row.oldest] : places[row.newest] + 1], 0.0
    alpha = float(row.settings.partition("/")[0])
    for one in part:
        ema = move_average(ema, one.emission or 0.0, alpha)
    same = (row.ema, row.folded, row.newest_at) == (ema, len(part), part[-1].at if part else None)
    return None if same else f"is {row.ema!r} of {row.folded} rounds, its emissions make {ema!r} of {len(part)}"


def find_orphans(connection: Connection, mechanisms: Collection[str]) -> Iterator[str]:
    """Rows that belong to no entry of the chain; `mechanisms` are those that it has rounds of."""
    for table in (tables.standings, tables.miners, tables.evaluations, tables.folds):
        strange = select(table.c.mechanism).where(table.c.mechanism.not_in(mechanisms)).distinct()
        yield from (f"{table.name} has rows of {name}, which has no rounds" for name in connection.scalars(strange))
    rounds, entries = tables.rounds.c, tables.entries.c
    chained = select(entries.ref).where(entries.kind == "round", entries.ref == rounds.id)
    for row in connection.execute(select(rounds.id).where(rounds.state == "scored", ~chained.exists())):
        yield f"round {row.id} is marked as scored and is missing from the chain"
    for table in ROUND_TABLES:
        known = select(rounds.id).where(rounds.id == table.c.round)
        for name in connection.scalars(select(table.c.round).where(~known.exists()).distinct()):
            yield f"{table.name} has rows of round {name}, which is missing"
    judged = tables.evaluations.c
    known = select(rounds.id).where(rounds.id == judged.round)
    stray = select(judged.round).where(~known.exists(), judged.emission.is_(None)).distinct()
    yield from (f"evaluations has rows of round {name}, which is missing" for name in connection.scalars(stray))


def find_request_faults(connection: Connection, find: FindMechanism) -> Iterator[str]:
    """Answered requests whose result is not what their round says."""
    columns, rounds = tables.requests.c, tables.rounds.c
    for id in connection.scalars(select(columns.id).where(columns.state == "done", columns.round.is_(None))):
        yield f"request {id} is answered, and no round is named"
    query = select(tables.requests).join(tables.rounds, rounds.id == columns.round).where(rounds.state == "scored")
    for row in connection.execute(query.where(columns.state.in_(("done", "failed")))):
        kept = load_round(connection, row.round, find(row.mechanism))
        expected = format_result(find(row.mechanism), kept, row.round)
        failed = row.state == "failed" and expected is None
        if not failed and (row.state, row.result) != ("done", expected):
            yield f"the result of request {row.id} differs from round {row.round}"
