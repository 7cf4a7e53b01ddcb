"""One round, from the question to its place in the journal: choose → ask → observe → score → stand."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from weighbeam.engine.journal import Committed, Journal, RoundFacts
from weighbeam.mechanisms.contract import Answer, Asked, Group, Mechanism, Params, Task, hash_params
from weighbeam.network.ask import Asker, Heard, Question, Target
from weighbeam.senses.ports import Senses


@dataclass(frozen=True, slots=True)
class Bench:
    """What a validator runs rounds of one mechanism with."""

    mechanism: Mechanism
    params: Params
    journal: Journal
    asker: Asker
    senses: Senses


@dataclass(frozen=True, slots=True)
class Moment:
    """When a round happens and who is there: hotkey → uid and endpoint, as one metagraph showed them."""

    round_id: str
    seed: str
    block: int
    at: float
    uids: Mapping[str, int]
    endpoints: Mapping[str, str | None]


async def run_round(bench: Bench, task: Task, moment: Moment, miners: Sequence[str]) -> Committed | None:
    """Ask a group of `miners` and commit what came of it; None when there is nobody to ask."""
    mechanism, params = bench.mechanism, bench.params
    standings = bench.journal.standings(mechanism.name)
    group = mechanism.choose(params, standings, miners, moment.seed, task.wanted)
    if not group.members:
        return None
    params_hash = hash_params(mechanism, params, mechanism.name_senses(params, bench.senses))
    heard = await ask_group(bench, task, group, moment, params_hash)
    asked = Asked(task, group, tuple(_answer(reply, moment) for reply in heard), moment.seed)
    observation = await asyncio.to_thread(mechanism.observe, params, asked, bench.senses)
    departed = tuple(standing.hotkey for standing in standings if standing.hotkey not in moment.uids)
    facts = RoundFacts(
        id=moment.round_id,
        mechanism=mechanism.name,
        params=params.model_dump(mode="json"),
        params_hash=params_hash,
        seed=moment.seed,
        block=moment.block,
        at=moment.at,
        departed=departed,
    )
    await asyncio.to_thread(bench.journal.record, facts, asked, observation)
    return await asyncio.to_thread(bench.journal.commit, moment.round_id, mechanism)


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
    targets = [Target(hotkey, moment.endpoints.get(hotkey)) for hotkey in (*group.members, *group.extra)]
    return blame_our_clock(await bench.asker.ask_all(question, targets))


def blame_our_clock(heard: Sequence[Heard]) -> list[Heard]:
    """When most miners find our request stale, it is our clock that is off: a fault nobody is charged for."""
    stale = sum(reply.reason == "stale" for reply in heard)
    if stale * 2 <= len(heard):
        return list(heard)
    return [
        replace(reply, status="validator_error", reason="clock") if reply.reason == "stale" else reply
        for reply in heard
    ]


def finish_rounds(journal: Journal, mechanisms: Mapping[str, Mechanism]) -> list[str]:
    """Score what a crash left observed; gives the rounds finished."""
    finished: list[str] = []
    for round_id, name in journal.unfinished():
        if name in mechanisms:
            journal.commit(round_id, mechanisms[name])
            finished.append(round_id)
    return finished


def _answer(reply: Heard, moment: Moment) -> Answer:
    return Answer(reply.hotkey, reply.payload, reply.seconds, reply.status, moment.uids.get(reply.hotkey))
