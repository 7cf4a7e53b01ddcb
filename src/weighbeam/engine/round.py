"""One round, from the question to its place in the journal: choose → ask → observe → score → stand."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG, tell_fault
from weighbeam.engine.journal import Committed, Journal, RoundFacts
from weighbeam.engine.lay_out import read_standings
from weighbeam.engine.weigh_in.assess import stand_by_averages
from weighbeam.engine.weigh_in.constants import EVALUATION_TIMEOUT_SECONDS, Averaging
from weighbeam.engine.weigh_in.emissions import read_averages
from weighbeam.mechanisms.contract import Answer, Asked, Group, Mechanism, Observation, Params, Standing, Task
from weighbeam.mechanisms.make_params import hash_params
from weighbeam.network.ask import Asker, Heard, Question, Target
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.probe import blame_our_network, is_lost
from weighbeam.senses.ports import Renews, Senses

Also = Callable[[Connection], None]


def _one_thread() -> Executor:
    return ThreadPoolExecutor(1, "observe")


@dataclass(frozen=True, slots=True)
class Bench:
    """What a validator runs rounds of one mechanism with.

    Observing has one thread of its own: one that hangs holds back the mechanism's next rounds, so that nothing piles
    up until the watchdog ends the process. `is_online` probes our own network; without one it is taken to work.
    `playing` are the rounds under way here, which nobody else has to finish.
    """

    mechanism: Mechanism
    params: Params
    journal: Journal
    asker: Asker
    senses: Senses
    is_online: Callable[[], Awaitable[bool]] | None = None
    observers: Executor = field(default_factory=_one_thread)
    evaluation_seconds: float = EVALUATION_TIMEOUT_SECONDS
    averaging: Averaging = field(default_factory=Averaging)
    playing: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a round happens and who is there: hotkey → uid, endpoint and operator, as one metagraph showed them.

    `known` are the miners that the journal knew before that: of those, whoever is not there has left. Who came later
    has not, though the metagraph does not show them.
    """

    round_id: str
    seed: str
    block: int
    at: float
    uids: Mapping[str, int]
    endpoints: Mapping[str, Endpoint]
    entities: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] | None = None


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


async def ask_group(bench: Bench, task: Task, group: Group, moment: Moment, params_hash: str) -> list[Heard]:
    """Everyone of the group and those asked besides, each once."""
    question = Question(
        round=moment.round_id,
        mechanism=bench.mechanism.name,
        params_hash=params_hash,
        task=bench.mechanism.pose(bench.params, task),
        deadline_seconds=bench.mechanism.ask_seconds(bench.params),
        seed=moment.seed,
    )
    targets = [_target(hotkey, moment.endpoints.get(hotkey)) for hotkey in (*group.members, *group.extra)]
    heard = blame_our_clock(await bench.asker.ask_all(question, targets))
    if bench.is_online is None or not any(map(is_lost, heard)):
        return heard
    judged = blame_our_network(heard, await bench.is_online())
    if judged != heard:
        LOG.warning("%s: no miner and no probe was reached | remedy: check our own network", moment.round_id)
    return judged


def count_outcomes(heard: Sequence[Heard]) -> str:
    """How many answered, and what came of the others.

    >>> count_outcomes([Heard("a", "ok", None, 0.1), Heard("b", "error", "403", 0.1), Heard("c", "timeout", None, 9.0)])
    'ok 1, error (403) 1, timeout 1'
    """
    counts = Counter(f"{reply.status} ({reply.reason})" if reply.reason else reply.status for reply in heard)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def blame_our_clock(heard: Sequence[Heard]) -> list[Heard]:
    """When most miners find our request stale, it is our clock that is off: a fault nobody is charged for."""
    stale = sum(reply.reason == "stale" for reply in heard)
    if stale * 2 <= len(heard):
        return list(heard)
    LOG.warning("most miners found our request stale | remedy: set this machine's clock, unless they just started")
    return [
        replace(reply, status="validator_error", reason="clock") if reply.reason == "stale" else reply
        for reply in heard
    ]


def finish_rounds(
    journal: Journal, mechanisms: Mapping[str, Mechanism], playing: Collection[str] = frozenset()
) -> list[str]:
    """Score what a crash or an observer left observed; gives the rounds finished. One that cannot be is discarded."""
    open_rounds = [(id, mechanisms[name]) for id, name in journal.unfinished() if name in mechanisms]
    return [id for id, mechanism in open_rounds if id not in playing and _finish(journal, id, mechanism)]


def _finish(journal: Journal, round_id: str, mechanism: Mechanism) -> bool:
    """Whether it was scored now; whoever was quicker has scored it as well."""
    try:
        journal.commit(round_id, mechanism)
    except Exception as fault:
        code = fault.code if isinstance(fault, WeighbeamError) else ""
        if code == "not_open":
            return False
        tell_fault(fault, round_id)
        if code != "store_fault":
            journal.discard(round_id)
        return False
    return True


def _target(hotkey: str, endpoint: Endpoint | None) -> Target:
    return Target(hotkey, None) if endpoint is None else Target(hotkey, endpoint.url, endpoint.dialect)


def _write(endpoint: Endpoint | None) -> list[str] | None:
    return None if endpoint is None else [endpoint.url, endpoint.dialect, endpoint.source]


def _answer(reply: Heard, moment: Moment) -> Answer:
    uid = moment.uids.get(reply.hotkey)
    return Answer(reply.hotkey, reply.payload, reply.seconds, reply.status, uid, reply.reason, reply.proof)
