"""Remove what is older than retention, leaving a signed checkpoint in its place (docs/spec/weigh-in.md § 8)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from weighbeam.engine.audit import write_audit
from weighbeam.engine.checkpoint import Checkpoint, Sign, keep_checkpoint, read_checkpoint
from weighbeam.engine.reached import Reached
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.contract import Score, Scored, Standing
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store
from weighbeam.store.remember import recall, remember

HOUR = 3600.0
LAST_RUN = "cleanup:last"
VACUUM_PAGES = 4000
MANY = 500


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a clean-up removed; `held` says why it removed less than it could."""

    entries: int
    rounds: int
    held: str | None = None


def is_cleanup_due(store: Store, now: float, averaging: Averaging) -> bool:
    """Every so many hours, measured from the last run in the store."""
    last = recall(store, LAST_RUN)
    return last is None or now - last >= averaging.db_cleanup_interval_hours * HOUR or last > now


def clean_up(store: Store, now: float, averaging: Averaging, hotkey: str, sign: Sign) -> Cleaned:
    """Remove the oldest entries, as far as they are all past retention; one transaction, then compaction."""
    with store.write() as connection:
        done = _remove(connection, now, averaging, hotkey, sign)
        write_audit(
            connection, now, "cleanup", reason=done.held, detail={"entries": done.entries, "rounds": done.rounds}
        )
    remember(store, LAST_RUN, now)
    _compact(store)
    return done


def _remove(connection: Connection, now: float, averaging: Averaging, hotkey: str, sign: Sign) -> Cleaned:
    edge = _find_edge(connection, now, averaging)
    _remove_requests(connection, edge)
    old, horizon, held = _find_old(connection, edge)
    if held or not old:
        return Cleaned(0, 0, held)
    horizon = min(horizon, max(at for _, at in old) - averaging.ema_lookback_hours * HOUR)
    entries = [entry for entry, _ in old]
    reached = _fold(connection, entries)
    for state in reached.values():
        state.forget_before(horizon)
    keep_checkpoint(connection, Checkpoint(entries[-1].sequence, entries[-1].hash, now, hotkey, reached), sign)
    rounds = [entry.ref for entry in entries if entry.kind == "round"]
    _remove_rounds(connection, rounds)
    _remove_evaluations(connection, horizon)
    bodies = [entry.body for entry in entries]
    connection.execute(delete(tables.entries).where(tables.entries.c.sequence <= entries[-1].sequence))
    _remove_blobs(connection, bodies)
    return Cleaned(len(entries), len(rounds))


def _find_edge(connection: Connection, now: float, averaging: Averaging) -> float:
    """What is older goes. However wrong the clock is, the lookback before the newest round stays."""
    newest = connection.scalar(select(func.max(tables.rounds.c.at)))
    edge = now - averaging.db_retention_hours * HOUR
    return edge if newest is None else min(edge, newest - averaging.ema_lookback_hours * HOUR)


def _find_old(connection: Connection, edge: float) -> tuple[list[tuple[Row[Any], float]], float, str | None]:
    """The entries at the chain's start older than `edge`, with their times; how far back those after them look.

    A weigh-in without lookback rested on everything retained then, so as long as one stays, all stays.
    """
    times = {row.id: float(row.at) for row in connection.execute(select(tables.rounds.c.id, tables.rounds.c.at))}
    old: list[tuple[Row[Any], float]] = []
    whole, horizon = True, float("inf")
    for entry in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)).all():
        mode, at, looks_back = None, times.get(entry.ref, 0.0), 0.0
        if entry.kind == "weigh_in":
            weighing = json.loads(read_blob(connection, entry.body))["weighing"]
            mode, at = weighing["mode"], float(weighing["now"])
            looks_back = weighing["averaging"]["ema_lookback_hours"] * HOUR
        whole = whole and at < edge
        if whole:
            old.append((entry, at))
        elif mode == "EMERGENCY":
            return [], horizon, "emergency"
        else:
            horizon = min(horizon, at - looks_back)
    return old, horizon, None


def _fold(connection: Connection, entries: Sequence[Row[Any]]) -> dict[str, Reached]:
    """The state after `entries`, from the checkpoint before them and what their outcomes say."""
    before = read_checkpoint(connection)
    reached = dict(before.reached) if before else {}
    for entry in entries:
        if entry.kind != "round":
            continue
        outcome = json.loads(read_blob(connection, entry.body))
        body = json.loads(read_blob(connection, outcome["body"]))
        state = reached.setdefault(body["mechanism"], Reached())
        scored = _read_scored(outcome["scored"])
        state.note(entry.ref, float(body["at"]), body["departed"], scored)
        state.standings = tuple(Standing(hotkey, value, detail) for hotkey, value, detail in outcome["standings"])
    return reached


def _read_scored(given: Any) -> Scored:
    scores = tuple(
        Score(row["hotkey"], row["status"], row["value"], row["parts"], tuple(row["reasons"]))
        for row in given["scores"]
    )
    return Scored(scores, given["summary"])


def _remove_rounds(connection: Connection, rounds: Sequence[str]) -> None:
    for start in range(0, len(rounds), MANY):
        part = rounds[start : start + MANY]
        links = tables.round_blobs.c
        digests = list(connection.scalars(select(links.digest).where(links.round.in_(part))))
        connection.execute(delete(tables.round_blobs).where(links.round.in_(part)))
        connection.execute(delete(tables.scores).where(tables.scores.c.round.in_(part)))
        connection.execute(delete(tables.rounds).where(tables.rounds.c.id.in_(part)))
        _remove_blobs(connection, digests)


def _remove_evaluations(connection: Connection, horizon: float) -> None:
    """Those of removed rounds, but not the emissions that the checkpoint carries: live averages rest on them too."""
    columns = tables.evaluations.c
    there = select(tables.rounds.c.id).where(tables.rounds.c.id == columns.round)
    unneeded = (columns.at < horizon) | columns.emission.is_(None)
    connection.execute(delete(tables.evaluations).where(~there.exists(), unneeded))


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
    columns = tables.requests.c
    connection.execute(delete(tables.requests).where(columns.at < edge, columns.state.in_(("done", "failed"))))


def _compact(store: Store) -> None:
    """Give freed pages back in small steps, so that nobody waits long for the write lock."""
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
