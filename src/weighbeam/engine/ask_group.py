"""Ask everyone of a round's group at once, and charge nobody for what was our own fault."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from weighbeam.engine.alerts import LOG
from weighbeam.engine.bench import Bench, Moment
from weighbeam.mechanisms.contract import Group, Task
from weighbeam.network.ask import Heard, Question, Target
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.probe import blame_our_network, is_lost


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


def _target(hotkey: str, endpoint: Endpoint | None) -> Target:
    return Target(hotkey, None) if endpoint is None else Target(hotkey, endpoint.url, endpoint.dialect)
