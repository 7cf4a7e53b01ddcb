"""A validator's day in small: recover, a round for an organic request, a weigh-in, a clean-up; shot at a named point.

A day that is begun again after a kill goes on from what it finds, as a validator does.
"""

import asyncio
import inspect
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash import worker
from crash.worker import ALICE, BLOCK_SECONDS, CHUNKING, START, make_facts, open_scale, read_observed
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal import journal as journal_module
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests import organic
from weighbeam.engine.running import retention
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights import weigh_in as weigh_in_module
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.store.tables import requests, rounds

OLD_ROUNDS = 12


@dataclass(frozen=True)
class Point:
    """Where a process is killed: before or after a function, in the calls that `hits` picks."""

    owner: Any
    name: str
    after: bool
    hits: Callable[..., bool] = lambda *_, **__: True


def _moves_to(state: str) -> Callable[..., bool]:
    return lambda _ledger, _row, _allowed, to, *_, **_to: to == state


POINTS = {
    "the request is taken": Point(organic, "take_next", True),
    "before the round is recorded": Point(Journal, "record", False),
    "the round is being recorded": Point(journal_module, "format_body", True),
    "the round is recorded": Point(Journal, "record", True),
    "before its entry": Point(journal_module, "append_entry", False),
    "between entry and scores": Point(journal_module, "append_entry", True),
    "between scores and evaluations": Point(journal_module, "insert_scores", True),
    "between evaluations and standings": Point(journal_module, "insert_evaluations", True),
    "between standings and miners": Point(journal_module, "update_standings", True),
    "before the round's commit": Point(journal_module, "update_last_seen", True),
    "the round is committed": Point(Journal, "commit", True),
    "before the answer is kept": Point(organic, "_finish", False),
    "the answer is kept": Point(organic, "_finish", True),
    "the decision is being written": Point(weigh_in_module, "append_entry", True),
    "before the plan": Point(Ledger, "plan", False),
    "the submission is planned": Point(Ledger, "plan", True),
    "the submission is called sent": Point(Ledger, "_move", True, _moves_to("sent")),
    "the chain has taken it": Point(LocalChain, "submit", True),
    "it is called included": Point(Ledger, "_move", True, _moves_to("included")),
    "it is called confirmed": Point(Ledger, "_move", True, _moves_to("confirmed")),
    "before the clean-up": Point(retention, "clean_up", False),
    "the clean-up is signed": Point(retention, "insert_checkpoint", True),
    "the clean-up has removed": Point(retention, "_remove_blobs", True),
    "the clean-up is remembered": Point(retention, "note", True),
    "before the file is compacted": Point(retention, "_compact", False),
}


def arm(point: Point) -> None:
    """From now on, this process does not get past the point."""
    real = getattr(point.owner, point.name)

    def shoot(after: bool, given: Any, named: Any) -> None:
        if after == point.after and point.hits(*given, **named):
            os.kill(os.getpid(), signal.SIGKILL)

    def shot(*given: Any, **named: Any) -> Any:
        shoot(False, given, named)
        done = real(*given, **named)
        shoot(True, given, named)
        return done

    async def shot_later(*given: Any, **named: Any) -> Any:
        shoot(False, given, named)
        done = await real(*given, **named)
        shoot(True, given, named)
        return done

    setattr(point.owner, point.name, shot_later if inspect.iscoroutinefunction(real) else shot)


def begin(folder: Path) -> None:
    """Rounds of the day before and a request that waits."""
    scale, (asked, observation) = open_scale(folder), read_observed(folder)
    journal = scale.journal
    for number in range(OLD_ROUNDS):
        name = f"old-{number:02}"
        at = find_now(folder) - (OLD_ROUNDS - number) * 3600.0
        journal.record(make_facts(name, at, observation), asked, observation)
        journal.commit(name, CHUNKING)
    organic.enqueue_request(journal.store, CHUNKING, worker.PARAMS, worker.QUESTION, find_now(folder))
    journal.store.close()


def find_now(folder: Path) -> float:
    file = ChainFile(folder / "chain.sqlite")
    try:
        return START + int(file.read("head")) * BLOCK_SECONDS
    finally:
        file.close()


def live_through(folder: Path, point: str | None = None) -> None:
    """The day, from wherever it stands; with a point, up to there."""
    if point is not None:
        arm(POINTS[point])
    scale, (asked, observation), now = open_scale(folder), read_observed(folder), find_now(folder)
    journal, store = scale.journal, scale.journal.store
    lock = HotkeyLock(store, ALICE.address)
    lock.take()
    worker.recover(scale)
    with store.read() as connection:
        played = connection.scalar(rounds.select().where(rounds.c.id == "today"))
        waits = connection.execute(requests.select().where(requests.c.state == "waiting")).first()
    if not played:
        request = organic.take_next(store, "chunking", "today", now) if waits else None
        journal.record(make_facts("today", now, observation), asked, observation)
        journal.commit("today", CHUNKING)
        if request is not None:
            organic.answer_request(journal, request.id, "today", CHUNKING)
    asyncio.run(weigh_in_module.weigh_in(scale, now))
    if retention.is_cleanup_due(store, now, worker.AVERAGING):
        retention.clean_up(store, now, worker.AVERAGING, ALICE.address, ALICE.sign)
    lock.release()
    store.close()
