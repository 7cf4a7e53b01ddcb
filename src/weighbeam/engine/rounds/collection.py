"""A collected round: no miner is asked; it holds the contributions received since the last one, each exactly once."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import CommittedRound, move_cursor, name_cursor
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import record_round, select_current_standings
from weighbeam.engine.support.process import run_in_thread
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import COLLECTED, MAX_COLLECTED, Asked, Collected, Collector, Group, Task
from weighbeam.store.memory import recall


async def collect_rounds(context: RoundContext, collector: Collector, moment: RoundStart) -> CommittedRound:
    """Everything that came in, in one round or as many as it takes; gives the last.

    `nothing_new` when nothing came in and no standing would change by the hour either.
    """
    done: CommittedRound | None = None
    number = 0
    found = Collected((), None, is_all=False)
    while not found.is_all:
        cursor = await asyncio.to_thread(recall, context.journal.store, _key(context))
        found = await run_in_thread(collector.collect, cursor, MAX_COLLECTED)
        if found.answers or (done is None and found.is_all and await run_in_thread(_is_stale, context, moment)):
            number += 1
            done = await _keep(context, found, cursor, replace(moment, round_id=f"{moment.round_id}-{number}"))
        elif found.cursor != cursor:
            await asyncio.to_thread(_skip, context, found.cursor)
    if done is None:
        raise WeighbeamError("nothing_new", f"nothing was contributed to {context.mechanism.name}", "nothing to do")
    return done


async def _keep(context: RoundContext, found: Collected, cursor: Json, moment: RoundStart) -> CommittedRound:
    """Record one round of the found contributions."""
    answers = tuple(replace(answer, uid=moment.uids.get(answer.hotkey)) for answer in found.answers)
    task = Task(COLLECTED, {"after": cursor, "until": found.cursor})
    asked = Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, moment.seed, at=moment.at)
    params_hash = await run_in_thread(_hash, context)
    await record_round(context, asked, moment, params_hash, _move_on(context, found.cursor))
    return await run_in_thread(context.journal.commit, moment.round_id, context.mechanism)


def _move_on(context: RoundContext, cursor: Json) -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        move_cursor(connection, context.mechanism.name, cursor)

    return write


def _skip(context: RoundContext, cursor: Json) -> None:
    with context.journal.store.write() as connection:
        move_cursor(connection, context.mechanism.name, cursor)


def _is_stale(context: RoundContext, moment: RoundStart) -> bool:
    mechanism = context.mechanism
    return mechanism.is_stale(context.params, select_current_standings(context, (), moment.at), moment.at)


def _hash(context: RoundContext) -> str:
    mechanism, params = context.mechanism, context.params
    return hash_params(mechanism, params, mechanism.name_senses(params, context.senses))


def _key(context: RoundContext) -> str:
    return name_cursor(context.mechanism.name)
