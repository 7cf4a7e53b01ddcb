"""Two miners, two rounds or two validators side by side: where they differ, and what from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number
from weighbeam.engine.journal.access import open_journal
from weighbeam.engine.views.miner import ScoreLine, list_scores, recall_outcomes
from weighbeam.engine.views.paging import format_cursor
from weighbeam.engine.views.round_view import AnswerView, RoundView
from weighbeam.engine.views.rounds import NAME as ROUNDS
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.engine.views.weights import WeightsLine, recall_last_set
from weighbeam.engine.weights.metagraphs import GraphView, NeuronView, find_own, select_metagraph
from weighbeam.mechanism.records import Score
from weighbeam.store import tables
from weighbeam.store.database import Store

MAX_ROUNDS = 100
MAX_EXPLAINED = 40
MAX_REASONS = 5
SAME = 1e-9
DAY = 86400.0


@dataclass(frozen=True, slots=True)
class ScoreInRound:
    """The result of one of two miners in a round of both."""

    status: str
    value: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartGap:
    """The part of two scores that differs most, by its share of the larger one."""

    name: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class SharedRound:
    """A round that asked both; `gap` is known where both scores have parts."""

    id: str
    at: float
    a: ScoreInRound
    b: ScoreInRound
    gap: PartGap | None

    @property
    def difference(self) -> float | None:
        """How much higher the first scored."""
        return None if self.a.value is None or self.b.value is None else self.a.value - self.b.value


def list_shared_rounds(store: Store, mechanism: str, a: str, b: str, limit: int = MAX_ROUNDS) -> list[SharedRound]:
    """The newest rounds that judged both, newest first."""
    rounds, first, second = tables.rounds.c, tables.scores.alias().c, tables.scores.alias().c
    query = (
        select(
            rounds.id, rounds.at, first.status, first.value, first.reasons, second.status, second.value, second.reasons
        )
        .where(rounds.mechanism == mechanism, rounds.id == first.round, rounds.id == second.round)
        .where(first.hotkey == a, second.hotkey == b)
        .order_by(rounds.at.desc(), rounds.id.desc())
        .limit(limit)
    )
    with store.read() as connection:
        rows = connection.execute(query).all()
        outcomes = recall_outcomes(connection, [row[0] for row in rows[:MAX_EXPLAINED]])
    found = []
    for row in rows:
        scores = {score.hotkey: score for score in outcomes.get(row[0], ())}
        sides = ScoreInRound(row[2], row[3], tuple(row[4])), ScoreInRound(row[5], row[6], tuple(row[7]))
        found.append(SharedRound(row[0], row[1], *sides, find_gap(scores.get(a), scores.get(b))))
    return found


def find_gap(a: Score | None, b: Score | None) -> PartGap | None:
    """
    >>> one, other = ({"x": 1.0, "y": 2.0}, {"x": 0.9, "y": 1.0})
    >>> find_gap(Score("a", "valid", 1.0, one), Score("b", "valid", 1.0, other))
    PartGap(name='y', a=2.0, b=1.0)
    """
    if a is None or b is None or a.parts is None or b.parts is None:
        return None
    both = [(name, a.parts[name], b.parts[name]) for name in a.parts if name in b.parts]
    numbers = [(name, float(x), float(y)) for name, x, y in both if is_number(x) and is_number(y) and x != y]
    ranked = [(abs(x - y) / max(abs(x), abs(y)), PartGap(name, x, y)) for name, x, y in numbers]
    return max(ranked, key=lambda one: one[0])[1] if ranked else None


@dataclass(frozen=True, slots=True)
class SharedTotals:
    """Rounds that asked both, in how many the first scored higher or lower, and the mean difference of the scores."""

    counted: int
    better: int
    worse: int
    mean: float | None


def count_shared(shared: Sequence[SharedRound]) -> SharedTotals:
    """
    >>> valid, failed = ScoreInRound("valid", 2.0, ()), ScoreInRound("failed", None, ("timeout",))
    >>> won = SharedRound("r", 0.0, valid, ScoreInRound("valid", 1.5, ()), None)
    >>> count_shared([won, SharedRound("s", 0.0, failed, valid, None)]), count_shared([])
    (SharedTotals(counted=2, better=1, worse=0, mean=0.5), SharedTotals(counted=0, better=0, worse=0, mean=None))
    """
    gaps = [one.difference for one in shared if one.difference is not None]
    mean = sum(gaps) / len(gaps) if gaps else None
    return SharedTotals(len(shared), sum(gap > SAME for gap in gaps), sum(gap < -SAME for gap in gaps), mean)


def count_codes(sides: Iterable[ScoreInRound]) -> list[tuple[str, int]]:
    """The most frequent reasons of one miner, with how often each occurs."""
    return Counter(code for side in sides for code in side.reasons).most_common(MAX_REASONS)


def find_round_before(store: Store, view: RoundView) -> str | None:
    """The round of the same mechanism before this one."""
    older = list_rounds(store, view.mechanism, cursor=format_cursor(ROUNDS, view.at, view.id), limit=1).items
    return older[0].id if older else None


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """A miner in two rounds; None where it was not asked. Places count from 1, among valid answers."""

    hotkey: str
    a: AnswerView | None
    b: AnswerView | None
    place_a: int | None
    place_b: int | None

    @property
    def climbed(self) -> int | None:
        """How many places better it is in the second."""
        return None if self.place_a is None or self.place_b is None else self.place_a - self.place_b


def pair_answers(a: RoundView, b: RoundView) -> list[AnswerPair]:
    """Everybody of either round: the greatest changes of place first, then who is in one alone."""
    first, second = {one.hotkey: one for one in a.answers}, {one.hotkey: one for one in b.answers}
    places, later = rank_valid(a.answers), rank_valid(b.answers)
    pairs = [
        AnswerPair(key, first.get(key), second.get(key), places.get(key), later.get(key)) for key in first | second
    ]
    return sorted(pairs, key=lambda one: (one.climbed is None, -abs(one.climbed or 0), one.place_b or 999, one.hotkey))


def rank_valid(answers: Sequence[AnswerView]) -> dict[str, int]:
    """Equals share the better place."""
    valid = sorted((one.value for one in answers if one.status == "valid" and one.value is not None), reverse=True)
    places: dict[float, int] = {}
    for place, value in enumerate(valid, 1):
        places.setdefault(value, place)
    return {one.hotkey: places[one.value] for one in answers if one.status == "valid" and one.value is not None}


def list_changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Values that differ, by name.

    >>> list_changed({"x": 1, "y": 2}, {"x": 1, "y": 3, "z": 4})
    [('y', 2, 3), ('z', None, 4)]
    """
    return [(name, a.get(name), b.get(name)) for name in sorted({*a, *b}) if a.get(name) != b.get(name)]


@dataclass(frozen=True, slots=True)
class MinerRecord:
    """How a validator judged a miner in a day: how often, how often valid, and the mean of its values."""

    rounds: int
    valid: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class WeightPair:
    """A miner's part of the weights of two validators, what the chain agrees on, and how each judged it."""

    hotkey: str
    uid: int
    ours: float
    theirs: float | None
    consensus: float
    record: MinerRecord | None = None
    other: MinerRecord | None = None

    @property
    def clipped(self) -> float:
        """Our weight above the consensus: it counts for nothing and lowers our vtrust."""
        return max(0.0, self.ours - self.consensus)

    @property
    def apart(self) -> float:
        """How far the two are apart; from the consensus where there is no other."""
        return abs(self.ours - (self.consensus if self.theirs is None else self.theirs))


def pair_weights(
    graph: GraphView,
    ours: WeightsLine | None,
    theirs: WeightsLine | None,
    records: Mapping[str, MinerRecord],
    others: Mapping[str, MinerRecord] | None = None,
) -> list[WeightPair]:
    """Miners with a weight or a consensus, those furthest apart first."""
    mine = {one.hotkey: one.share for one in ours.shares} if ours else {}
    other = None if theirs is None else {one.hotkey: one.share for one in theirs.shares}
    pairs = [
        WeightPair(
            hotkey=one.hotkey,
            uid=one.uid,
            ours=mine.get(one.hotkey, 0.0),
            theirs=None if other is None else other.get(one.hotkey, 0.0),
            consensus=one.consensus,
            record=records.get(one.hotkey),
            other=None if others is None else others.get(one.hotkey),
        )
        for one in graph.neurons
    ]
    known = [one for one in pairs if one.ours or one.theirs or one.consensus]
    return sorted(known, key=lambda one: (-one.apart, one.uid))


def estimate_vtrust(pairs: Sequence[WeightPair]) -> float:
    """The part of our weights that the consensus keeps, as the chain's epoch counts it."""
    return sum(min(one.ours, one.consensus) for one in pairs)


@dataclass(frozen=True, slots=True)
class ValidatorComparison:
    """Our weights beside the consensus, and beside those of another validator where its journal is here.

    `kept` is the part of our weights that the consensus keeps; `other` is the other validator on our chain.
    """

    graph: GraphView
    pairs: tuple[WeightPair, ...]
    ours: WeightsLine | None
    theirs: WeightsLine | None
    own: NeuronView | None
    other: NeuronView | None

    @property
    def kept(self) -> float | None:
        return estimate_vtrust(self.pairs) if self.ours else None


def compare_validators(store: Store, other: Store | None, mechanism: str) -> ValidatorComparison | None:
    """None while the chain has not been read."""
    graph = select_metagraph(store, mechanism)
    if graph is None:
        return None
    ours = recall_last_set(store, mechanism)
    theirs = None if other is None else recall_last_set(other, mechanism)
    pairs = pair_weights(
        graph, ours, theirs, _count_day(store, mechanism), None if other is None else _count_day(other, mechanism)
    )
    them = find_own(None if other is None else select_metagraph(other, mechanism))
    known = next((one for one in graph.neurons if them is not None and one.hotkey == them.hotkey), None)
    return ValidatorComparison(graph, tuple(pairs), ours, theirs, find_own(graph), known)


@contextmanager
def open_other_journal(journals: Mapping[str, str], name: str | None) -> Iterator[tuple[str | None, Store | None]]:
    """The journal of another validator, with the name it is shown under: the one named, else the first, if any."""
    chosen = name or next(iter(journals), None)
    if chosen is None:
        yield None, None
        return
    if chosen not in journals:
        raise WeighbeamError("bad_query", "there is no journal of this name", "see service.journals in the settings")
    store = open_journal(journals[chosen])
    try:
        yield chosen, store
    finally:
        store.close()


def _count_day(store: Store, mechanism: str) -> Mapping[str, MinerRecord]:
    with store.read() as connection:
        return count_records(connection, mechanism)


def count_records(connection: Connection, mechanism: str) -> dict[str, MinerRecord]:
    """Of the day before a mechanism's newest round."""
    rounds, scores = tables.rounds.c, tables.scores.c
    newest = connection.scalar(select(func.max(rounds.at)).where(rounds.mechanism == mechanism))
    if newest is None:
        return {}
    recent = (rounds.mechanism == mechanism, rounds.at >= newest - DAY, rounds.id == scores.round)
    valid, mean = func.count().filter(scores.status == "valid"), func.avg(scores.value)
    query = select(scores.hotkey, func.count(), valid, mean).where(*recent, scores.status != "unscored")
    rows = connection.execute(query.group_by(scores.hotkey))
    return {row[0]: MinerRecord(row[1], row[2], None if row[3] is None else float(row[3])) for row in rows}


def list_last_scores(store: Store, mechanism: str, hotkey: str, limit: int = 10) -> tuple[ScoreLine, ...]:
    """A miner's newest scores, newest first."""
    return list_scores(store, hotkey, mechanism, limit=limit).items
