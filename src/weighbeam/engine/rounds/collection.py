"""A collected round: no miner is asked; it holds the contributions received since the last one, each exactly once."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import CommittedRound, name_cursor
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import record_round, select_current_standings
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import COLLECTED, MAX_COLLECTED, Asked, Collected, Collector, Group, Task
from weighbeam.store.memory import note, recall, remember


async def collect_rounds(bench: RoundContext, collector: Collector, moment: RoundStart) -> CommittedRound:
    """Everything that came in, in one round or as many as it takes; gives the last.

    `nothing_new` when nothing came in and no standing would change by the hour either.
    """
    done: CommittedRound | None = None
    number = 0
    found = Collected((), None, is_all=False)
    while not found.is_all:
        cursor = await asyncio.to_thread(recall, bench.journal.store, _key(bench))
        found = await asyncio.to_thread(collector.collect, cursor, MAX_COLLECTED)
        if found.answers or (done is None and found.is_all and await asyncio.to_thread(_is_stale, bench, moment)):
            number += 1
            done = await _keep(bench, found, cursor, replace(moment, round_id=f"{moment.round_id}-{number}"))
        elif found.cursor != cursor:
            await asyncio.to_thread(remember, bench.journal.store, _key(bench), found.cursor)
    if done is None:
        raise WeighbeamError("nothing_new", f"nothing was contributed to {bench.mechanism.name}", "nothing to do")
    return done


async def _keep(bench: RoundContext, found: Collected, cursor: Json, moment: RoundStart) -> CommittedRound:
    """One round of what was found."""
    answers = tuple(replace(answer, uid=moment.uids.get(answer.hotkey)) for answer in found.answers)
    task = Task(COLLECTED, {"after": cursor, "until": found.cursor})
    asked = Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, moment.seed, at=moment.at)
    await record_round(bench, asked, moment, _hash(bench), _move_on(bench, found.cursor))
    return await asyncio.to_thread(bench.journal.commit, moment.round_id, bench.mechanism)


def _move_on(bench: RoundContext, cursor: Json) -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        note(connection, _key(bench), cursor)

    return write


def _is_stale(bench: RoundContext, moment: RoundStart) -> bool:
    mechanism = bench.mechanism
    return mechanism.is_stale(bench.params, select_current_standings(bench, (), moment.at), moment.at)


def _hash(bench: RoundContext) -> str:
    mechanism, params = bench.mechanism, bench.params
    return hash_params(mechanism, params, mechanism.name_senses(params, bench.senses))


def _key(bench: RoundContext) -> str:
    return name_cursor(bench.mechanism.name)
