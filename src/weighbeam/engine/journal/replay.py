"""Recompute everything from the journal, without models or network, and name the first thing that differs.

Every entry's hash, every stored content, every score and every standing is computed again and compared to the bit.
Texts that only explain may be deleted, not changed.
"""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.engine.journal.fold import FindMechanism, Fold, FoldedRound, RecordedEntry, walk_entries
from weighbeam.engine.journal.projections import (
    list_evaluations,
    list_standing_history,
    matches_standing_history,
    select_last_seen,
    select_standings,
)
from weighbeam.engine.journal.recall import select_texts
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.rules.averages import Evaluation
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.store import tables
from weighbeam.store.blobs import select_blobs
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class ReplayedEntry:
    """One entry computed again; `fault` says what differs."""

    sequence: int
    ref: str
    fault: str | None


CheckEntry = Callable[[RecordedEntry], str | None]


def replay(store: Store, find: FindMechanism) -> Iterator[ReplayedEntry]:
    """Every entry in order, from the checkpoint on if there is one, then the tables that should follow from them."""
    with store.read() as connection:
        yield from replay_entries(connection, find)


def replay_entries(
    connection: Connection, find: FindMechanism, also: CheckEntry = lambda _: None, fold: Fold | None = None
) -> Iterator[ReplayedEntry]:
    """The same within a transaction; `also` looks for more faults of a sound entry, `fold` carries the state."""
    try:
        start = select_checkpoint(connection)
    except WeighbeamError as broken:
        yield ReplayedEntry(0, "checkpoint", broken.message)
        return
    fold, last = fold or Fold(), 0
    if start:
        fold.reached.update({name: state.copy() for name, state in start.reached.items()})
        last = start.sequence
        yield ReplayedEntry(last, f"checkpoint signed by {start.hotkey}", None)
    for entry in walk_entries(connection, start, find):
        last = entry.sequence
        yield ReplayedEntry(last, entry.ref, _replay_entry(connection, entry, fold, also))
    for mechanism, state in fold.reached.items():
        yield ReplayedEntry(last, f"tables of {mechanism}", _check_state(connection, mechanism, state))


def _replay_entry(connection: Connection, entry: RecordedEntry, fold: Fold, also: CheckEntry) -> str | None:
    if entry.broken_link is not None:
        return entry.broken_link
    try:
        if entry.kind == "round":
            fault = _replay_round(connection, entry, fold)
        else:
            fault = fold.take_weigh_in(entry).find_fault(entry)
        return also(entry) if fault is None else fault
    except WeighbeamError as broken:
        return f"{broken.code}: {broken.message}"
    except SQLAlchemyError:
        raise
    except (Exception, SystemExit) as raised:
        return f"recomputing it raised {describe_exception(raised)}"


def _check_state(connection: Connection, mechanism: str, state: ReplayState) -> str | None:
    table = tables.standings.c
    places = connection.scalars(select(table.place).where(table.mechanism == mechanism).order_by(table.place)).all()
    if select_standings(connection, mechanism) != state.standings or places != list(range(len(places))):
        return "the standings table differs from what the rounds give"
    if select_last_seen(connection, mechanism) != state.seen:
        return "the miners table differs from what the rounds give"
    if _select_emissions(connection, mechanism) != {hotkey: set(rows) for hotkey, rows in state.emissions.items()}:
        return "the evaluations table differs from what the rounds give"
    return None


def _select_emissions(connection: Connection, mechanism: str) -> dict[str, set[Evaluation]]:
    columns = tables.evaluations.c
    query = select(columns.hotkey, columns.at, columns.round, columns.emission)
    found: dict[str, set[Evaluation]] = {}
    for hotkey, *row in connection.execute(query.where(columns.mechanism == mechanism, columns.emission.is_not(None))):
        found.setdefault(hotkey, set()).add(Evaluation(*row))
    return found


def _replay_round(connection: Connection, entry: RecordedEntry, fold: Fold) -> str | None:
    """Records are checked before the round is taken in: one that is damaged leads to nothing."""
    mechanism, body = entry.mechanism, entry.body
    if hash_params(mechanism, body["params"], entry.observation.facts.get("senses", {})) != body["params_hash"]:
        return "params_hash does not match its parameters and senses"
    entry.load(body["answers"])
    known = {entry.digest, entry.recorded, *(body[part] for part in ("observation", "task", "answers"))}
    links = tables.round_blobs.c
    kept = set(connection.scalars(select(links.digest).where(links.round == entry.ref, links.digest.in_(known))))
    if kept != known:
        return "the round_blobs table does not name all of its records"
    _check_texts(connection, entry.ref, known, body.get("texts"))
    task = json.loads(entry.load(body["task"]))
    folded = fold.take_round(entry)
    if (fault := folded.find_fault(entry)) is not None:
        return fault
    history = list_standing_history(mechanism, entry.ref, body["at"], task, folded.scored, folded.after)
    if not matches_standing_history(connection, entry.ref, history):
        return "the standings over time do not match"
    return _check_tables(connection, entry, folded)


def _check_texts(connection: Connection, round_id: str, known: Collection[str], texts: str | None) -> None:
    """Check stored texts other than `known`: they may be deleted, but not changed."""
    if texts is not None:
        select_texts(connection, texts)
        known = {*known, texts}
    links = tables.round_blobs.c
    kept = select(links.digest).join(tables.blobs, tables.blobs.c.digest == links.digest)
    select_blobs(connection, list(connection.scalars(kept.where(links.round == round_id, links.digest.not_in(known)))))


def _check_tables(connection: Connection, entry: RecordedEntry, folded: FoldedRound) -> str | None:
    body, scored = entry.body, folded.scored
    stored = connection.execute(select(tables.rounds).where(tables.rounds.c.id == entry.ref)).one_or_none()
    if stored is None or (stored.state, stored.body, stored.sequence) != ("scored", entry.recorded, entry.sequence):
        return "the rounds table does not match"
    if (stored.mechanism, stored.at, stored.block) != (body["mechanism"], body["at"], body["block"]):
        return "the rounds table does not match"
    rows = connection.execute(select(tables.scores).where(tables.scores.c.round == entry.ref))
    kept = {one.hotkey: (one.status, one.value, tuple(one.reasons)) for one in rows}
    if kept != {score.hotkey: (score.status, score.value, score.reasons) for score in scored.scores}:
        return "the scores table does not match"
    judged = connection.execute(select(tables.evaluations).where(tables.evaluations.c.round == entry.ref))
    found = {one.hotkey: dict(one._mapping) for one in judged}
    wanted = {one["hotkey"]: one for one in list_evaluations(entry.mechanism, entry.ref, body["at"], scored)}
    return None if found == wanted else "the evaluations table does not match"
