"""The leaderboard: standings with their uncertainty, pay, and how the last rounds went."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, String, cast, func, select

from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.views.trends import StandingTrend, query_recent, recall_trends, select_newest_time
from weighbeam.engine.views.weights import select_last_set
from weighbeam.engine.weights.metagraphs import select_newest_graph
from weighbeam.mechanism.base import Mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class RecentRounds:
    """How a miner's rounds of the last 24 hours went (of at most 500 rounds); the reason is its newest."""

    rounds: int = 0
    valid: int = 0
    last_reason: str = ""


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """One line: `spread` is one standard error of the standing, `share` the part of the weights last set and
    `incentive` what the chain paid, both 0 to 1. `rounds`, `valid` and `last_reason` are of the 24 hours before the
    newest round; `trend` is its last 32 standings at most, oldest first."""

    place: int
    hotkey: str
    uid: int | None
    standing: float | None
    spread: float | None
    rounds: int
    valid: int
    last_reason: str
    share: float | None
    incentive: float | None
    trend: tuple[float, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MinerPay:
    """Pay of a miner according to chain and ledger."""

    uid: int | None = None
    share: float | None = None
    incentive: float | None = None


def select_leaderboard(store: Store, mechanism: Mechanism, averaging: Averaging) -> tuple[LeaderboardLine, ...]:
    """Everyone with a standing, best first, the unranked last; of averaged emissions, as of the newest round."""
    with store.read() as connection:
        courses = recall_trends(connection, mechanism, averaging)
        recent = select_recent(connection, mechanism.name)
        paid = select_pay(connection, mechanism.name, courses)
    lines = []
    for hotkey, place in place_all(mechanism, courses).items():
        course = courses[hotkey]
        seen, pay = recent.get(hotkey, RecentRounds()), paid[hotkey]
        lines.append(
            LeaderboardLine(
                place=place,
                hotkey=hotkey,
                uid=pay.uid,
                standing=course.standing,
                spread=course.spread,
                rounds=seen.rounds,
                valid=seen.valid,
                last_reason=seen.last_reason,
                share=pay.share,
                incentive=pay.incentive,
                trend=course.trend,
            )
        )
    return tuple(lines)


def place_all(mechanism: Mechanism, courses: Mapping[str, StandingTrend]) -> dict[str, int]:
    """By hotkey, best first, the unranked last; equals share the better place, and are in the order of their names."""
    sign = 1.0 if mechanism.better == "lower" else -1.0
    standings = {hotkey: course.standing for hotkey, course in courses.items()}
    order = sorted(standings, key=lambda one: (standings[one] is None, sign * (standings[one] or 0.0), one))
    places: dict[float | None, int] = {}
    return {hotkey: places.setdefault(standings[hotkey], number) for number, hotkey in enumerate(order, 1)}


def select_recent(connection: Connection, mechanism: str) -> dict[str, RecentRounds]:
    newest = select_newest_time(connection, mechanism)
    if newest is None:
        return {}
    rounds, scores = query_recent(mechanism, newest).subquery().c, tables.scores.c
    valid, said = func.count().filter(scores.status == "valid"), cast(scores.reasons, String)
    counts = select(scores.hotkey, func.count(), valid).where(scores.round == rounds.id).group_by(scores.hotkey)
    told = select(scores.hotkey, said).where(scores.round == rounds.id, said != "[]").order_by(rounds.sequence)
    last = {row[0]: row[1] for row in connection.execute(told)}
    return {
        hotkey: RecentRounds(asked, good, ", ".join(json.loads(last.get(hotkey, "[]"))))
        for hotkey, asked, good in connection.execute(counts)
    }


def select_pay(connection: Connection, mechanism: str, hotkeys: Collection[str]) -> dict[str, MinerPay]:
    """A share of None says that nothing was set yet, 0 that others were paid."""
    last, graph = select_last_set(connection, mechanism), select_newest_graph(connection, mechanism)
    shares = {one.hotkey: one for one in last.shares} if last else {}
    neurons = {one.hotkey: one for one in graph.neurons} if graph else {}
    found = {}
    for hotkey in hotkeys:
        share, neuron = shares.get(hotkey), neurons.get(hotkey)
        uid = neuron.uid if neuron else share.uid if share and not graph else None
        part = share.share if share else None if last is None else 0.0
        found[hotkey] = MinerPay(uid, part, neuron.incentive if neuron else None)
    return found
