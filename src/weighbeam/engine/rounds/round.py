"""One round, from the question to its place in the journal: choose → ask → observe → score → stand."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from sqlalchemy import Connection

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.text import count_noun
from weighbeam.engine.alerts.alerts import LOG, Level, find_remedy
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import CommittedRound
from weighbeam.engine.journal.projections import select_standings
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.trimming import trim_failed
from weighbeam.engine.rules.averages import stand_by_averages
from weighbeam.engine.support.process import refuse_exit, run_in_thread
from weighbeam.engine.support.spans import trace
from weighbeam.engine.weights.emissions import select_averages
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Standing, Task
from weighbeam.network.ask import MinerQuestion, MinerReply, Target
from weighbeam.network.blame import (
    Lateness,
    blame_late,
    blame_our_network,
    blame_refused,
    count_late,
    is_lost,
    is_refusal,
)
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.probe import LateWatch
from weighbeam.senses.ports.protocols import RenewableSenses, Senses


async def ask_group(
    context: RoundContext, task: Task, group: Group, moment: RoundStart, params_hash: str
) -> tuple[list[MinerReply], Lateness | None]:
    """Ask the group and the extra miners, each once; return our lateness too if it voids the round."""
    mechanism, params = context.mechanism, context.params
    limits = await run_in_thread(mechanism.reply_limits, params, task)
    question = MinerQuestion(
        round=moment.round_id,
        mechanism=mechanism.name,
        params_hash=params_hash,
        task=await run_in_thread(mechanism.pose, params, task),
        deadline_seconds=await run_in_thread(mechanism.ask_seconds, params),
        seed=moment.seed,
        max_reply_bytes=min(limits.bytes, mechanism.max_reply_bytes),
        max_reply_nodes=limits.nodes,
    )
    targets = [_target(hotkey, moment.endpoints.get(hotkey)) for hotkey in (*group.members, *group.extra)]
    watch = LateWatch(question.deadline_seconds)
    heard = await context.asker.ask_all(question, targets, watch)
    lateness = count_late(watch.measured, heard)
    if lateness.is_ours:
        return await _blame_late(context, heard, lateness, moment), lateness
    heard = await _blame_refused(context, heard, moment)
    if context.is_online is None or not any(map(is_lost, heard)):
        return heard, None
    judged = blame_our_network(heard, await context.is_online())
    if judged != heard:
        LOG.warning(
            "%s: neither a miner nor the probe could be reached | remedy: check this machine's network", moment.round_id
        )
    return judged, None


def count_outcomes(heard: Sequence[MinerReply]) -> str:
    """How many answered, and what came of the others.

    >>> replies = [MinerReply("a", "ok", None, 0.1), MinerReply("b", "error", "403", 0.1)]
    >>> count_outcomes([*replies, MinerReply("c", "timeout", None, 9.0)])
    'ok 1, error (403) 1, timeout 1'
    """
    counts = Counter(f"{reply.status} ({reply.reason})" if reply.reason else reply.status for reply in heard)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


async def _blame_late(
    context: RoundContext, heard: Sequence[MinerReply], lateness: Lateness, moment: RoundStart
) -> list[MinerReply]:
    """Charge nobody when our own machine was late, and say so."""
    text = f"{moment.round_id} is void because this machine was late: {lateness}; {count_outcomes(heard)}"
    await _tell(context, "late_machine", "warning", text)
    return blame_late(heard, lateness)


async def _blame_refused(context: RoundContext, heard: Sequence[MinerReply], moment: RoundStart) -> list[MinerReply]:
    """Charge nobody when most miners refuse us, and say so."""
    judged = blame_refused(heard)
    if judged != heard:
        refusals = count_outcomes([reply for reply in heard if is_refusal(reply)])
        await _tell(context, "refused", "critical", f"{moment.round_id}: most miners refuse this validator: {refusals}")
    return judged


async def _tell(context: RoundContext, code: str, level: Level, text: str) -> None:
    """Raise an alert, or only log it where nobody keeps alerts."""
    if context.tell is not None:
        await asyncio.to_thread(context.tell, code, level, text)
    else:
        LOG.warning("%s: %s | remedy: %s", code, text, find_remedy(code))


def _target(hotkey: str, endpoint: Endpoint | None) -> Target:
    return Target(hotkey, None) if endpoint is None else Target(hotkey, endpoint.url, endpoint.dialect)


Also = Callable[[Connection], None]


async def run_round(
    context: RoundContext, task: Task, moment: RoundStart, miners: Sequence[str], also: Also | None = None
) -> CommittedRound:
    """Ask a group of `miners` and commit what came of it."""
    await observe_round(context, task, moment, miners, also)
    return await run_in_thread(context.journal.commit, moment.round_id, context.mechanism)


async def observe_round(
    context: RoundContext, task: Task, moment: RoundStart, miners: Sequence[str], also: Also | None = None
) -> None:
    """Ask a group of `miners` and store the observation for scoring.

    Raises `no_permit` if miners would refuse us, `too_few_miners` if there are none to ask: no miner is asked then, and
    none is charged. Raises `evaluation_timeout` if observing takes too long: the round is then
    discarded as our own fault.
    """
    if moment.barred is not None:
        raise moment.barred
    context = replace(context, senses=await asyncio.to_thread(renew_senses, context.senses))
    mechanism, params = context.mechanism, context.params
    standings = await asyncio.to_thread(select_current_standings, context, miners, moment.at)
    group = await run_in_thread(mechanism.choose, params, standings, miners, moment.seed, task.wanted)
    if not group.members:
        raise moment.exclusion.explain(mechanism.name)
    named = await run_in_thread(mechanism.name_senses, params, context.senses)
    params_hash = hash_params(mechanism, params, named)
    with trace("ask", mechanism=mechanism.name, asked=len(group.members) + len(group.extra)) as span:
        heard, lateness = await ask_group(context, task, group, moment, params_hash)
        span.note(answered=sum(reply.status == "ok" for reply in heard), late=lateness is not None)
    LOG.info("%s: asked %s: %s", moment.round_id, count_noun(len(heard), "miner"), count_outcomes(heard))
    entities = {reply.hotkey: moment.entities[reply.hotkey] for reply in heard if reply.hotkey in moment.entities}
    asked = Asked(task, group, tuple(_answer(reply, moment) for reply in heard), moment.seed, entities, moment.at)
    await record_round(context, asked, moment, params_hash, also, lateness)


async def record_round(
    context: RoundContext,
    asked: Asked,
    moment: RoundStart,
    params_hash: str,
    also: Also | None = None,
    lateness: Lateness | None = None,
) -> None:
    """Observe what was asked and make it durable; `also` writes in the same transaction.

    `lateness` is how late our own machine was, if that made the round void.
    """
    mechanism = context.mechanism
    with trace("observe", mechanism=mechanism.name, answers=len(asked.answers)):
        observation = await observe(context, asked)
    if mechanism.kind == "asked":
        asked, observation = await _trim(context, asked, observation)
    known = await asyncio.to_thread(context.journal.known, mechanism.name) if moment.known is None else moment.known
    facts = RoundFacts(
        id=moment.round_id,
        mechanism=mechanism.name,
        params=context.params.model_dump(mode="json"),
        params_hash=params_hash,
        seed=moment.seed,
        block=moment.block,
        at=moment.at,
        departed=tuple(sorted(hotkey for hotkey in known if hotkey not in moment.uids)),
        endpoints={answer.hotkey: _format_endpoint(moment.endpoints.get(answer.hotkey)) for answer in asked.answers},
        lateness=None if lateness is None else asdict(lateness),
    )
    with trace("record", mechanism=mechanism.name):
        await asyncio.to_thread(context.journal.record, facts, asked, observation, also)


async def _trim(context: RoundContext, asked: Asked, observation: Observation) -> tuple[Asked, Observation]:
    """Trim texts of failed answers. Unscored answers stay whole, so that they can be examined."""
    try:
        scored = await run_in_thread(context.mechanism.score, context.params, observation)
    except Exception:
        return asked, observation
    return await asyncio.to_thread(trim_failed, asked, observation, scored)


def renew_senses(senses: Senses) -> Senses:
    return senses.renew() if isinstance(senses, RenewableSenses) else senses


def select_current_standings(context: RoundContext, miners: Sequence[str], now: float) -> tuple[Standing, ...]:
    """The standings that whom to ask may depend on."""
    mechanism = context.mechanism
    with context.journal.store.read() as connection:
        kept = select_standings(connection, mechanism.name)
        if mechanism.rule.standing == "own":
            return kept
        averages = select_averages(connection, mechanism.name, miners, now, context.averaging, lookback=True)
        return stand_by_averages(averages, kept)


async def observe(context: RoundContext, asked: Asked) -> Observation:
    """The observation, within the time a validator gives itself."""
    work = asyncio.get_running_loop().run_in_executor(
        context.observers, refuse_exit, context.mechanism.observe, context.params, asked, context.senses
    )
    try:
        async with asyncio.timeout(context.evaluation_seconds):
            return await work
    except TimeoutError:
        raise WeighbeamError(
            "evaluation_timeout",
            f"observing took more than {context.evaluation_seconds:g} s; the round is discarded",
            "give the machine more cores, or ask fewer miners",
        ) from None


def _format_endpoint(endpoint: Endpoint | None) -> list[str] | None:
    return None if endpoint is None else [endpoint.url, endpoint.dialect, endpoint.source]


def _answer(reply: MinerReply, moment: RoundStart) -> Answer:
    uid = moment.uids.get(reply.hotkey)
    return Answer(reply.hotkey, reply.payload, reply.seconds, reply.status, uid, reply.reason, reply.proof)
