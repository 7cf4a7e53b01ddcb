"""Remove what is older than retention, leaving a signed checkpoint in its place (docs/spec/weigh-in.md § 8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from weighbeam.core.errors import require
from weighbeam.engine.journal.checkpoint import Checkpoint, Sign, insert_checkpoint, select_checkpoint
from weighbeam.engine.journal.fold import Fold, RecordedEntry
from weighbeam.engine.journal.hash_chain import GENESIS, check_link
from weighbeam.engine.journal.head import REMEDY
from weighbeam.engine.journal.projections import delete_standing_history
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.outbox.queue import insert_item
from weighbeam.engine.requests.queue import ENDED
from weighbeam.engine.rules.constants import BLOCK_SECONDS, Averaging
from weighbeam.engine.weights.audit import insert_audit
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.memory import note, recall
from weighbeam.store.seals import delete_sealed

HOUR = 3600.0
LAST_RUN = "cleanup:last"
VACUUM_PAGES = 4000
MANY = 500


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """Number of entries and rounds that a clean-up removed."""

    entries: int
    rounds: int


@dataclass(frozen=True, slots=True)
class RetentionSplit:
    """The chain's entries: those to remove, and the earliest time that anything kept may look back from."""

    old: tuple[Row[Any], ...]
    kept_from: float


def is_cleanup_due(store: Store, now: float, averaging: Averaging) -> bool:
    """Every so many hours, measured from the last run in the store."""
    last = recall(store, LAST_RUN)
    return last is None or now - last >= averaging.db_cleanup_interval_hours * HOUR or last > now


def clean_up(store: Store, now: float, averaging: Averaging, hotkey: str, sign: Sign) -> CleanupResult:
    """Remove the oldest entries, as far as they are all past retention; one transaction, then compaction."""
    with store.write() as connection:
        done = _remove(connection, now, averaging, hotkey, sign)
        _remove_requests(connection, now - averaging.db_retention_hours * HOUR)
        insert_audit(connection, now, "cleanup", detail={"entries": done.entries, "rounds": done.rounds})
        note(connection, LAST_RUN, now)
    _compact(store)
    return done


def _remove(connection: Connection, now: float, averaging: Averaging, hotkey: str, sign: Sign) -> CleanupResult:
    edge = now - averaging.db_retention_hours * HOUR
    _remove_delivered(connection, edge)
    _remove_discarded(connection, now, edge)
    connection.execute(delete(tables.metagraphs).where(tables.metagraphs.c.at < edge))
    split = _split_entries(connection, now, edge, averaging)
    if not split.old:
        return CleanupResult(0, 0)
    cut = split.kept_from - averaging.db_retention_hours * HOUR
    reached = _fold(connection, split.old)
    for state in reached.values():
        state.forget_before(cut)
    last = split.old[-1]
    insert_checkpoint(connection, Checkpoint(last.sequence, last.hash, now, hotkey, reached), sign)
    rounds = [entry.ref for entry in split.old if entry.kind == "round"]
    _remove_rounds(connection, rounds, cut, now)
    connection.execute(delete(tables.entries).where(tables.entries.c.sequence <= last.sequence))
    _remove_blobs(connection, [entry.body for entry in split.old])
    return CleanupResult(len(split.old), len(rounds))


def _split_entries(connection: Connection, now: float, edge: float, averaging: Averaging) -> RetentionSplit:
    """The entries at the chain's start that are older than `edge`; the last entry always stays.

    A time later than now is a wrong clock's: such an entry counts as old as the one before it. And whatever the clock
    says, a round stays while the chain's blocks put it inside the lookback of the newest.
    """
    columns = tables.rounds.c
    rounds = {row.id: (float(row.at), int(row.block)) for row in connection.execute(select(tables.rounds))}
    newest = connection.scalar(select(func.max(columns.block)).where(columns.state == "scored")) or 0
    needed = newest - averaging.ema_lookback_hours * HOUR / BLOCK_SECONDS
    entries = connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)).all()
    old = 0
    before, times = 0.0, []
    for entry in entries:
        at, block = rounds[entry.ref] if entry.kind == "round" else (RecordedEntry(connection, entry).at, 0)
        before = at if at <= now else before
        times.append(before)
        if old == len(times) - 1 and before < edge and (entry.kind != "round" or block < needed):
            old += 1
    old = min(old, len(entries) - 1)
    return RetentionSplit(tuple(entries[:old]), min(times[old:], default=now)) if old > 0 else RetentionSplit((), now)


def _fold(connection: Connection, entries: Sequence[Row[Any]]) -> dict[str, ReplayState]:
    """The state after `entries`, from the checkpoint before them and what their outcomes say."""
    before = select_checkpoint(connection)
    fold = Fold(before.reached if before else None)
    previous, expected = (before.hash, before.sequence) if before else (GENESIS, 0)
    for row in entries:
        fault = check_link(row, previous, expected + 1)
        require(fault is None, "journal_differs", f"entry {row.sequence} of the journal: {fault}", REMEDY)
        previous, expected = row.hash, row.sequence
        fold.take_outcome(RecordedEntry(connection, row))
    return fold.reached


def _remove_rounds(connection: Connection, rounds: Sequence[str], cut: float, now: float) -> None:
    """Remove rounds and dependent rows; emissions after `cut` stay, because averages still need them."""
    judged = tables.evaluations.c
    for start in range(0, len(rounds), MANY):
        part = rounds[start : start + MANY]
        links = tables.round_blobs.c
        digests = list(connection.scalars(select(links.digest).where(links.round.in_(part))))
        connection.execute(delete(tables.round_blobs).where(links.round.in_(part)))
        connection.execute(delete(tables.scores).where(tables.scores.c.round.in_(part)))
        _remove_extras(connection, part, now)
        delete_standing_history(connection, part)
        connection.execute(delete(tables.evaluations).where(judged.round.in_(part), judged.emission.is_(None)))
        connection.execute(delete(tables.rounds).where(tables.rounds.c.id.in_(part)))
        _remove_blobs(connection, digests)
    kept = select(tables.rounds.c.id).where(tables.rounds.c.id == judged.round)
    connection.execute(delete(tables.evaluations).where(judged.at < cut).where(~kept.exists()))


def _remove_extras(connection: Connection, rounds: Sequence[str], now: float) -> None:
    """Remove narratives now; the outbox removes pictures."""
    columns = tables.extras.c
    drawn = select(columns.round).where(
        columns.round.in_(rounds), columns.kind == "heatmap", columns.value.is_not(None)
    )
    for round_id in list(connection.scalars(drawn)):
        insert_item(connection, "take_away", round_id, "", now, {})
    delete_sealed(connection, tables.extras, columns.round.in_(rounds))


def _remove_delivered(connection: Connection, edge: float) -> None:
    columns = tables.outbox.c
    connection.execute(delete(tables.outbox).where(columns.at < edge, columns.state != "waiting"))


def _remove_discarded(connection: Connection, now: float, edge: float) -> None:
    columns = tables.rounds.c
    gone = list(connection.scalars(select(columns.id).where(columns.state == "discarded", columns.at < edge)))
    _remove_rounds(connection, gone, float("-inf"), now)


def _remove_blobs(connection: Connection, digests: Sequence[str]) -> None:
    """Contents that nothing left refers to."""
    digest = tables.blobs.c.digest
    linked = select(tables.round_blobs.c.digest).where(tables.round_blobs.c.digest == digest)
    chained = select(tables.entries.c.body).where(tables.entries.c.body == digest)
    for start in range(0, len(digests), MANY):
        part = digests[start : start + MANY]
        connection.execute(
            delete(tables.blobs).where(digest.in_(part)).where(~linked.exists()).where(~chained.exists())
        )


def _remove_requests(connection: Connection, edge: float) -> None:
    """Remove ended requests, unless their result is still to be sent or their round is kept."""
    columns, items = tables.requests.c, tables.outbox.c
    waiting = select(items.id).where(items.ref == columns.id, items.kind == "callback", items.state == "waiting")
    kept = select(tables.rounds.c.id).where(tables.rounds.c.id == columns.round)
    ended = columns.state.in_(ENDED)
    chosen = delete(tables.requests).where(columns.at < edge, ended)
    connection.execute(chosen.where(~waiting.exists()).where(~kept.exists()))


def _compact(store: Store) -> None:
    """Release freed pages in small steps, so that the write lock is held only briefly."""
    if store.engine.dialect.name != "sqlite":
        return
    free, left = -1, _count_free(store)
    while left and left != free:
        free = left
        with store.write() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()
        left = _count_free(store)


def _count_free(store: Store) -> int:
    with store.read() as connection:
        return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
