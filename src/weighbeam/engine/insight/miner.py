"""One miner: where it stands and why, how its last rounds went, what its failures mean, and what it should improve."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, String, and_, cast, func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.insight.courses import Course, read_emission_course
from weighbeam.engine.insight.kept_courses import recall_courses
from weighbeam.engine.insight.leaderboard import place_all, read_pay
from weighbeam.engine.insight.outcomes import read_pairs
from weighbeam.engine.insight.recent import DAY, find_newest, read_params
from weighbeam.engine.standing_history import HISTORY
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.abilities import Advice, Advises
from weighbeam.mechanisms.contract import Mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store

MOST_POINTS = 100
ADVISED_ROUNDS = 20
COPY_DAYS = 7
UNKNOWN = "See the mechanism's documentation."


@dataclass(frozen=True, slots=True)
class Point:
    """One round of a miner; `standing` is that after it, where it is known."""

    round: str
    at: float
    block: int
    status: str
    value: float | None
    standing: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Of how many of the points a reason is, and what it means."""

    code: str
    count: int
    meaning: str


@dataclass(frozen=True, slots=True)
class MinerView:
    """`place` is None without a standing. `points` are the last 100 rounds at most, newest first, and `reasons` are
    counted over them; `advice` is of the last 20 judged. `copies` is in how many rounds of the last 7 days it was among
    those with the same answer."""

    hotkey: str
    uid: int | None
    place: int | None
    of: int
    standing: float | None
    spread: float | None
    share: float | None
    incentive: float | None
    trend: tuple[float, ...]
    points: tuple[Point, ...]
    reasons: tuple[Reason, ...]
    advice: tuple[Advice, ...]
    copies: int


def read_miner(store: Store, mechanism: Mechanism, hotkey: str, averaging: Averaging) -> MinerView:
    """`unknown_hotkey` if the store has neither a standing nor a score of it."""
    with store.read() as connection:
        courses = recall_courses(connection, mechanism, averaging)
        points = _read_points(connection, mechanism, hotkey, averaging)
        if hotkey not in courses and not points:
            raise WeighbeamError("unknown_hotkey", f"{hotkey!r} has no score here", "see weighbeam leaderboard")
        paid = read_pay(connection, mechanism.name, [hotkey])[hotkey]
        places = place_all(mechanism, courses)
        course = courses.get(hotkey, Course(None))
        return MinerView(
            hotkey=hotkey,
            uid=paid.uid,
            place=None if course.standing is None else places[hotkey],
            of=len(places),
            standing=course.standing,
            spread=course.spread,
            share=paid.share,
            incentive=paid.incentive,
            trend=course.trend,
            points=points,
            reasons=count_reasons(mechanism, points),
            advice=_advise(connection, mechanism, hotkey, points),
            copies=_count_copies(connection, mechanism.name, hotkey),
        )


def count_reasons(mechanism: Mechanism, points: Sequence[Point]) -> tuple[Reason, ...]:
    """The most frequent first."""
    meanings: Mapping[str, str] = mechanism.meanings if isinstance(mechanism, Advises) else {}
    counts = Counter(code for point in points for code in point.reasons)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Reason(code, times, meanings.get(code, UNKNOWN)) for code, times in ordered)


def _advise(connection: Connection, mechanism: Mechanism, hotkey: str, points: Sequence[Point]) -> tuple[Advice, ...]:
    if not isinstance(mechanism, Advises):
        return ()
    judged = [point.round for point in points if point.status != "unscored"][:ADVISED_ROUNDS]
    pairs = read_pairs(connection, judged[::-1], hotkey)
    return mechanism.advise(read_params(connection, mechanism), pairs) if pairs else ()


def _read_points(connection: Connection, mechanism: Mechanism, hotkey: str, averaging: Averaging) -> tuple[Point, ...]:
    rounds, scores = tables.rounds.c, tables.scores.c
    after = and_(HISTORY.mechanism == mechanism.name, HISTORY.hotkey == hotkey, HISTORY.round == scores.round)
    query = (
        select(rounds.id, rounds.at, rounds.block, scores.status, scores.value, HISTORY.value, scores.reasons)
        .join_from(tables.scores, tables.rounds, rounds.id == scores.round)
        .join(tables.standing_history, after, isouter=True)
        .where(scores.hotkey == hotkey, rounds.mechanism == mechanism.name)
        .order_by(rounds.sequence.desc())
        .limit(MOST_POINTS)
    )
    points = tuple(Point(*row[:6], tuple(row[6])) for row in connection.execute(query))
    if mechanism.rule.standing != "emissions":
        return points
    course = read_emission_course(connection, mechanism.name, hotkey, averaging)
    return tuple(Point(p.round, p.at, p.block, p.status, p.value, course.get(p.round), p.reasons) for p in points)


def _count_copies(connection: Connection, mechanism: str, hotkey: str) -> int:
    newest, copies = find_newest(connection, mechanism) or 0.0, tables.copies.c
    named = cast(copies.hotkeys, String).contains(f'"{hotkey}"', autoescape=True)
    query = select(func.count(copies.round.distinct())).where(copies.at >= newest - COPY_DAYS * DAY)
    return int(connection.scalar(query.where(copies.mechanism == mechanism, named)) or 0)
