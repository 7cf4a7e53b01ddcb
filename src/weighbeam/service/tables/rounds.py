"""Tables of rounds, of the answers of a round, and of one miner's scores."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from weighbeam.engine.views.miner import ScoreLine, list_scores
from weighbeam.engine.views.round_view import AnswerView, RoundView, select_round_view
from weighbeam.engine.views.rounds import OUTCOMES, RoundFilter, RoundLine, find_rounds
from weighbeam.service.tables.model import Column, FoundRows, Table, TableSource, find_span
from weighbeam.service.tables.shown import find_hotkeys, find_page, find_units, list_names

STATUSES = ("valid", "failed", "unscored")
SCORE_STATUSES = (*STATUSES, "observed")
NO_PAYLOADS = 0


def select_rounds(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    since, until = find_span(filters, source.now)
    miner = filters.get("miner")
    wanted = RoundFilter(
        mechanism=filters.get("mechanism"),
        outcome=filters.get("status"),
        miner=miner,
        whole=miner is not None and miner.isdigit(),
        hotkeys=find_hotkeys(source, miner),
        reason=filters.get("reason"),
        since=since,
        until=until,
    )
    found = find_rounds(source.store, wanted, limit + 1)
    return FoundRows(found.lines[:limit], found.cut or len(found.lines) > limit)


def rate_valid(line: RoundLine) -> float | None:
    return line.valid / line.answers if line.answers else None


ROUNDS = Table(
    name="rounds",
    about="Rounds, newest first: state, and how many answers were valid.",
    columns=(
        Column("round", "text", lambda line: line.id, "the round", rises=True),
        Column("mechanism", "text", lambda line: line.mechanism, "its mechanism", rises=True),
        Column("at", "time", lambda line: line.at, "when it began"),
        Column("block", "integer", lambda line: line.block, "the chain's block then"),
        Column("kind", "text", lambda line: line.kind, "synthetic, organic or collected", rises=True),
        Column("state", "text", lambda line: line.outcome, "scored, void, observed or discarded", rises=True),
        Column("answers", "integer", lambda line: line.answers, "answers that were judged"),
        Column("valid", "integer", lambda line: line.valid, "of them valid"),
        Column("valid_share", "real", rate_valid, "the valid part of the answers"),
    ),
    select=select_rounds,
    order="-at",
    filters=("mechanism", "miner", "status", "reason", "range", "since", "until"),
    options={"status": OUTCOMES},
)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer, its place in the order that a round is shown in, and its value in tokens where it is paid so."""

    place: int
    answer: AnswerView
    score: float | None
    round: str

    @property
    def status(self) -> str:
        return self.answer.status or "observed"


def order_answers(answers: Iterable[AnswerView]) -> list[AnswerView]:
    """Best first; what failed and what was not scored at the end."""
    rank = {"valid": 0, "failed": 1, "unscored": 2}
    return sorted(answers, key=lambda one: (rank.get(one.status or "", 3), -(one.value or 0.0), one.hotkey))


def list_answers(view: RoundView) -> list[AnswerRow]:
    base = view.params.get(find_page(view.mechanism).token_units) or 1
    ordered = order_answers(view.answers)
    scores = [None if one.value is None else one.value / base for one in ordered]
    return [AnswerRow(at, one, scores[at - 1], view.id) for at, one in enumerate(ordered, 1)]


def select_answers(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    """Scores and no texts, so a user's round is included."""
    view = select_round_view(source.store, filters["round"], True, NO_PAYLOADS)
    rows = list_answers(replace(view, answers=source.book.name_all(view.answers, view.mechanism)))
    return FoundRows(rows[:limit], len(rows) > limit)


ANSWERS = Table(
    name="answers",
    about="The answers of one round, best first: status, score, seconds and reasons.",
    columns=(
        Column("place", "integer", lambda row: row.place, "in the order of the round's page", rises=True),
        Column("round", "text", lambda row: row.round, "the round", rises=True),
        Column("hotkey", "text", lambda row: row.answer.hotkey, "the miner", rises=True),
        Column("uid", "integer", lambda row: row.answer.uid, "its uid then", rises=True),
        Column("name", "text", lambda row: row.answer.name, "what the miner is called here", rises=True),
        Column("status", "text", lambda row: row.status, "valid, failed or unscored", rises=True),
        Column("score", "real", lambda row: row.score, "in tokens where scores are tokens"),
        Column("seconds", "real", lambda row: row.answer.seconds, "until it had answered", rises=True),
        Column("reply", "text", lambda row: row.answer.reply, "how the miner answered", rises=True),
        Column("reasons", "list", lambda row: row.answer.reasons, "why", rises=True),
    ),
    select=select_answers,
    order="place",
    needs=("round",),
    filters=("miner", "status", "reason"),
    matches={
        "miner": lambda row: list_names(row.answer.hotkey, row.answer.uid, row.answer.name),
        "status": lambda row: (row.status,),
        "reason": lambda row: row.answer.reasons,
    },
    options={"status": SCORE_STATUSES},
)


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score, in tokens where it is paid so."""

    line: ScoreLine
    score: float | None


def select_scores(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    since, until = find_span(filters, source.now)
    found = list_scores(source.store, filters["hotkey"], filters.get("mechanism"), None, limit, since, until)
    units = {name: find_units(name, params) for name, (_, params) in source.mechanisms.items()}
    values = [(line, line.value, units.get(line.mechanism, 1)) for line in found.items]
    rows = [ScoreRow(line, None if value is None else value / base) for line, value, base in values]
    return FoundRows(rows, found.next is not None)


SCORES = Table(
    name="scores",
    about="The scores of one miner, newest first.",
    columns=(
        Column("round", "text", lambda row: row.line.round, "the round", rises=True),
        Column("mechanism", "text", lambda row: row.line.mechanism, "its mechanism", rises=True),
        Column("at", "time", lambda row: row.line.at, "when it began"),
        Column("block", "integer", lambda row: row.line.block, "the chain's block then"),
        Column("status", "text", lambda row: row.line.status, "valid, failed or unscored", rises=True),
        Column("score", "real", lambda row: row.score, "in tokens where scores are tokens"),
        Column("reasons", "list", lambda row: row.line.reasons, "why", rises=True),
    ),
    select=select_scores,
    order="-at",
    needs=("hotkey",),
    filters=("mechanism", "status", "reason", "range", "since", "until"),
    matches={"status": lambda row: (row.line.status,), "reason": lambda row: row.line.reasons},
    options={"status": STATUSES},
)
