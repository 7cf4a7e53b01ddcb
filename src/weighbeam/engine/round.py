"""One round, from the question to its place in the journal: choose → ask → observe → score → stand."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG
from weighbeam.engine.ask_group import ask_group, count_outcomes
from weighbeam.engine.bench import Bench, Moment
from weighbeam.engine.journal import Committed
from weighbeam.engine.lay_out import read_standings
from weighbeam.engine.round_bytes import RoundFacts
from weighbeam.engine.weigh_in.assess import stand_by_averages
from weighbeam.engine.weigh_in.emissions import read_averages
from weighbeam.mechanisms.contract import Answer, Asked, Observation, Standing, Task
from weighbeam.mechanisms.make_params import hash_params
from weighbeam.network.ask import Heard
from weighbeam.network.endpoints import Endpoint
from weighbeam.senses.ports import Renews, Senses

Also = Callable[[Connection], None]


async def run_round(
    bench: Bench, task: Task, moment: Moment, miners: Sequence[str], also: Also | None = None
) -> Committed:
    """Ask a group of `miners` and commit what came of it."""
    await observe_round(bench, task, moment, miners, also)
    return await asyncio.to_thread(bench.journal.commit, moment.round_id, bench.mechanism)


async def observe_round(
    bench: Bench, task: Task, moment: Moment, miners: Sequence[str], also: Also | None = None
) -> None:
    """Ask a group of `miners` and make what was observed durable, for whoever scores it.

    `too_few_miners` when there is nobody to ask; `evaluation_timeout` when observing takes too long: the round is then
    discarded as our own fault.
    """
    bench = replace(bench, senses=await asyncio.to_thread(renew_senses, bench.senses))
    mechanism, params = bench.mechanism, bench.params
    standings = await asyncio.to_thread(read_current, bench, miners, moment.at)
    group = mechanism.choose(params, standings, miners, moment.seed, task.wanted)
    if not group.members:
        raise WeighbeamError("too_few_miners", f"nobody to ask for {mechanism.name}", "wait until miners serve")
    params_hash = hash_params(mechanism, params, mechanism.name_senses(params, bench.senses))
    heard = await ask_group(bench, task, group, moment, params_hash)
    LOG.info("%s: asked %d miners: %s", moment.round_id, len(heard), count_outcomes(heard))
    entities = {reply.hotkey: moment.entities[reply.hotkey] for reply in heard if reply.hotkey in moment.entities}
    asked = Asked(task, group, tuple(_answer(reply, moment) for reply in heard), moment.seed, entities, moment.at)
    await record_round(bench, asked, moment, params_hash, also)


async def record_round(bench: Bench, asked: Asked, moment: Moment, params_hash: str, also: Also | None = None) -> None:
    """Observe what was asked and make it durable; `also` writes in the same transaction."""
    mechanism = bench.mechanism
    observation = await observe(bench, asked)
    known = await asyncio.to_thread(bench.journal.known, mechanism.name) if moment.known is None else moment.known
    facts = RoundFacts(
        id=moment.round_id,
        mechanism=mechanism.name,
        params=bench.params.model_dump(mode="json"),
        params_hash=params_hash,
        seed=moment.seed,
        block=moment.block,
        at=moment.at,
        departed=tuple(sorted(hotkey for hotkey in known if hotkey not in moment.uids)),
        endpoints={answer.hotkey: _write(moment.endpoints.get(answer.hotkey)) for answer in asked.answers},
    )
    await asyncio.to_thread(bench.journal.record, facts, asked, observation, also)


def renew_senses(senses: Senses) -> Senses:
    return senses.renew() if isinstance(senses, Renews) else senses


def read_current(bench: Bench, miners: Sequence[str], now: float) -> tuple[Standing, ...]:
    """The standings that whom to ask may depend on."""
    mechanism = bench.mechanism
    with bench.journal.store.read() as connection:
        if mechanism.rule.standing == "own":
            return read_standings(connection, mechanism.name)
        averages = read_averages(connection, mechanism.name, miners, now, bench.averaging, lookback=True)
        return stand_by_averages(averages)


async def observe(bench: Bench, asked: Asked) -> Observation:
    """The observation, within the time a validator gives itself."""
    work = asyncio.get_running_loop().run_in_executor(
        bench.observers, bench.mechanism.observe, bench.params, asked, bench.senses
    )
    try:
        async with asyncio.timeout(bench.evaluation_seconds):
            return await work
    except TimeoutError:
        raise WeighbeamError(
            "evaluation_timeout",
            f"observing took more than {bench.evaluation_seconds:g} s; the round is discarded",
            "give the machine more cores, or ask fewer miners",
        ) from None


def _write(endpoint: Endpoint | None) -> list[str] | None:
    return None if endpoint is None else [endpoint.url, endpoint.dialect, endpoint.source]


def _answer(reply: Heard, moment: Moment) -> Answer:
    uid = moment.uids.get(reply.hotkey)
    return Answer(reply.hotkey, reply.payload, reply.seconds, reply.status, uid, reply.reason, reply.proof)
