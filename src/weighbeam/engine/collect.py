"""A collected round: nobody is asked; it holds what came in since the last one, each contribution exactly once.

Where it was read up to is written in the transaction that makes the round durable: whatever a crash interrupts, the
next round goes on from there.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.bench import Bench, Moment
from weighbeam.engine.journal import Committed, name_cursor
from weighbeam.engine.round import read_current, record_round
from weighbeam.mechanisms.abilities import COLLECTED, MOST_COLLECTED, Collected, Collector, Collects
from weighbeam.mechanisms.contract import Asked, Group, Task
from weighbeam.mechanisms.make_params import hash_params
from weighbeam.store.remember import note, recall, remember


async def collect_rounds(bench: Bench, collector: Collector, moment: Moment) -> Committed:
    """Everything that came in, in one round or as many as it takes; gives the last.

    `nothing_new` when nothing came in and no standing would change by the hour either.
    """
    done: Committed | None = None
    number = 0
    found = Collected((), None, is_all=False)
    while not found.is_all:
        cursor = await asyncio.to_thread(recall, bench.journal.store, _key(bench))
        found = await asyncio.to_thread(collector.collect, cursor, MOST_COLLECTED)
        if found.answers or (done is None and found.is_all and await asyncio.to_thread(_is_stale, bench, moment)):
            number += 1
            done = await _keep(bench, found, cursor, replace(moment, round_id=f"{moment.round_id}-{number}"))
        elif found.cursor != cursor:
            await asyncio.to_thread(remember, bench.journal.store, _key(bench), found.cursor)
    if done is None:
        raise WeighbeamError("nothing_new", f"nothing was contributed to {bench.mechanism.name}", "nothing to do")
    return done


async def _keep(bench: Bench, found: Collected, cursor: Json, moment: Moment) -> Committed:
    """One round of what was found."""
    answers = tuple(replace(answer, uid=moment.uids.get(answer.hotkey)) for answer in found.answers)
    task = Task(COLLECTED, {"after": cursor, "until": found.cursor})
    asked = Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, moment.seed, at=moment.at)
    await record_round(bench, asked, moment, _hash(bench), _move_on(bench, found.cursor))
    return await asyncio.to_thread(bench.journal.commit, moment.round_id, bench.mechanism)


def _move_on(bench: Bench, cursor: Json) -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        note(connection, _key(bench), cursor)

    return write


def _is_stale(bench: Bench, moment: Moment) -> bool:
    mechanism = bench.mechanism
    return isinstance(mechanism, Collects) and mechanism.is_stale(
        bench.params, read_current(bench, (), moment.at), moment.at
    )


def _hash(bench: Bench) -> str:
    mechanism, params = bench.mechanism, bench.params
    return hash_params(mechanism, params, mechanism.name_senses(params, bench.senses))


def _key(bench: Bench) -> str:
    return name_cursor(bench.mechanism.name)
