"""One miner: its standing and why, its scores and last rounds, the meaning of its failures, and advice."""

import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, String, and_, cast, func, select, tuple_

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.projections import HISTORY
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.views.leaderboard import place_all, select_pay
from weighbeam.engine.views.paging import ListPage, cut_page, parse_cursor
from weighbeam.engine.views.trends import (
    DAY,
    StandingTrend,
    recall_trends,
    select_emission_trend,
    select_newest_time,
    select_params,
)
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Advice, Score, Scored, ScorePair
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob
from weighbeam.store.database import Store

NAME = "scores"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Score of one answer."""

    round: str
    mechanism: str
    at: float
    block: int
    status: str
    value: float | None
    reasons: tuple[str, ...]


def list_scores(
    store: Store,
    hotkey: str,
    mechanism: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
    since: float | None = None,
    until: float | None = None,
) -> ListPage[ScoreLine]:
    """All scores of a miner, or those of one mechanism or of some time."""
    rounds, scores, after = tables.rounds.c, tables.scores.c, parse_cursor(cursor, NAME, float, str)
    query = (
        select(rounds.id, rounds.mechanism, rounds.at, rounds.block, scores.status, scores.value, scores.reasons)
        .select_from(tables.rounds.join(tables.scores, scores.round == rounds.id))
        .where(scores.hotkey == hotkey)
        .order_by(rounds.at.desc(), rounds.id.desc())
        .limit(limit + 1)
    )
    if mechanism is not None:
        query = query.where(rounds.mechanism == mechanism)
    if after is not None:
        query = query.where(tuple_(rounds.at, rounds.id) < tuple_(*after))
    if since is not None:
        query = query.where(rounds.at >= since)
    if until is not None:
        query = query.where(rounds.at <= until)
    with store.read() as connection:
        lines = [ScoreLine(*row[:6], tuple(row[6])) for row in connection.execute(query)]
    return cut_page(lines, limit, NAME, lambda line: (line.at, line.round))


MAX_KNOWN = 512
KNOWN: OrderedDict[str, tuple[Score, ...]] = OrderedDict()
LOCK = threading.Lock()


def select_pairs(connection: Connection, rounds: Sequence[str], hotkey: str) -> list[ScorePair]:
    """In the order given; a round whose content is gone is left out."""
    outcomes, pairs = recall_outcomes(connection, rounds), []
    for round_id in rounds:
        scores = outcomes.get(round_id, ())
        own = next((score for score in scores if score.hotkey == hotkey), None)
        if own is not None:
            pairs.append((own, find_best(scores)))
    return pairs


def recall_outcomes(connection: Connection, rounds: Sequence[str]) -> dict[str, Sequence[Score]]:
    """Scores of rounds by id, as recorded; a round whose content is gone is left out."""
    entries = tables.entries.c
    query = select(entries.ref, entries.body).where(entries.kind == "round", entries.ref.in_(list(rounds)))
    still = query.join(tables.blobs, tables.blobs.c.digest == entries.body)
    return {row.ref: _recall_scores(connection, row.body) for row in connection.execute(still).all()}


def find_best(scores: Sequence[Score]) -> Score | None:
    """The valid score of the highest value; of equals, the first by name."""
    valid = [score for score in scores if score.status == "valid" and score.value is not None]
    return min(valid, key=lambda score: (-(score.value or 0.0), score.hotkey), default=None)


def _recall_scores(connection: Connection, digest: str) -> Sequence[Score]:
    """An outcome never changes, and those of the last rounds are looked at for one miner after the other."""
    with LOCK:
        if digest in KNOWN:
            KNOWN.move_to_end(digest)
            return KNOWN[digest]
    try:
        written = json.loads(select_blob(connection, digest))["scored"]
    except WeighbeamError:
        return ()
    scores = Scored.from_json(written).scores
    with LOCK:
        KNOWN[digest] = scores
        while len(KNOWN) > MAX_KNOWN:
            KNOWN.popitem(last=False)
    return scores


MAX_POINTS = 100
ADVISED_ROUNDS = 20
COPY_DAYS = 7
UNKNOWN = "See the mechanism's documentation."


@dataclass(frozen=True, slots=True)
class MinerPoint:
    """One round of a miner; `standing` is that after it, where it is known."""

    round: str
    at: float
    block: int
    status: str
    value: float | None
    standing: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReasonCount:
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
    points: tuple[MinerPoint, ...]
    reasons: tuple[ReasonCount, ...]
    advice: tuple[Advice, ...]
    copies: int
    name: str | None = None


def select_miner(store: Store, mechanism: Mechanism, hotkey: str, averaging: Averaging) -> MinerView:
    """`unknown_hotkey` if the store has neither a standing nor a score of it."""
    with store.read() as connection:
        courses = recall_trends(connection, mechanism, averaging)
        points = _select_points(connection, mechanism, hotkey, averaging)
        if hotkey not in courses and not points:
            raise WeighbeamError("unknown_hotkey", f"{hotkey!r} has no score here", "see weighbeam journal leaderboard")
        paid = select_pay(connection, mechanism.name, [hotkey])[hotkey]
        places = place_all(mechanism, courses)
        course = courses.get(hotkey, StandingTrend(None))
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


def count_reasons(mechanism: Mechanism, points: Sequence[MinerPoint]) -> tuple[ReasonCount, ...]:
    """The most frequent first."""
    counts = Counter(code for point in points for code in point.reasons)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(ReasonCount(code, times, mechanism.meanings.get(code, UNKNOWN)) for code, times in ordered)


def _advise(
    connection: Connection, mechanism: Mechanism, hotkey: str, points: Sequence[MinerPoint]
) -> tuple[Advice, ...]:
    judged = [point.round for point in points if point.status != "unscored"][:ADVISED_ROUNDS]
    pairs = select_pairs(connection, judged[::-1], hotkey)
    return mechanism.advise(select_params(connection, mechanism), pairs) if pairs else ()


def _select_points(
    connection: Connection, mechanism: Mechanism, hotkey: str, averaging: Averaging
) -> tuple[MinerPoint, ...]:
    rounds, scores = tables.rounds.c, tables.scores.c
    after = and_(HISTORY.mechanism == mechanism.name, HISTORY.hotkey == hotkey, HISTORY.round == scores.round)
    query = (
        select(rounds.id, rounds.at, rounds.block, scores.status, scores.value, HISTORY.value, scores.reasons)
        .join_from(tables.scores, tables.rounds, rounds.id == scores.round)
        .join(tables.standing_history, after, isouter=True)
        .where(scores.hotkey == hotkey, rounds.mechanism == mechanism.name)
        .order_by(rounds.sequence.desc())
        .limit(MAX_POINTS)
    )
    points = tuple(MinerPoint(*row[:6], tuple(row[6])) for row in connection.execute(query))
    if mechanism.rule.standing != "emissions":
        return points
    course = select_emission_trend(connection, mechanism.name, hotkey, averaging)
    return tuple(MinerPoint(p.round, p.at, p.block, p.status, p.value, course.get(p.round), p.reasons) for p in points)


def _count_copies(connection: Connection, mechanism: str, hotkey: str) -> int:
    newest, copies = select_newest_time(connection, mechanism) or 0.0, tables.copies.c
    named = cast(copies.hotkeys, String).contains(f'"{hotkey}"', autoescape=True)
    query = select(func.count(copies.round.distinct())).where(copies.at >= newest - COPY_DAYS * DAY)
    return int(connection.scalar(query.where(copies.mechanism == mechanism, named)) or 0)
