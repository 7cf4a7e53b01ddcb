"""Labelled rounds, for any mechanism that scores a question: whether better answers get the better scores.

Length alone is measured beside the score: raters like long answers, so a score that only counts letters looks good
until it meets a better answer that is shorter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.package_faults import contain
from weighbeam.lab.validity.answer_sets import ANSWER_FORMATS
from weighbeam.lab.validity.kinds import LabelledRow, RowFormat, RowKind, has_fields
from weighbeam.lab.validity.measures import Findings, Measured, Statistic, compare, mean_of
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Asked, Score
from weighbeam.senses.ports.protocols import Senses

MEANINGS = {
    "pairwise_accuracy": "of two answers the better one has the higher score; ½ for equals, and 50 % is a coin",
    "accuracy_if_shorter": "the same, where the better answer is the shorter one",
    "length_alone": "pairwise accuracy of length: what counting letters would get",
    "pay_accuracy": "pairwise accuracy of what the round pays",
    "best_is_right": "the answer an organic caller gets is a right one",
    "honest_refused": "honest answers that are not valid",
    "right_refused": "right answers that are not valid",
    "unscored": "answers without a score, by the validator's fault",
}


class RoundRow(LabelledRow):
    """A question of `weighbeam score` with its answers, of which some are better than others.

    All are honest work, unless `honest` says which are.
    """

    question: dict[str, Any]
    pairs: list[tuple[str, str]] = Field(default_factory=list)
    good: list[str] = Field(default_factory=list)
    bad: list[str] = Field(default_factory=list)
    honest: list[str] | None = None

    @model_validator(mode="after")
    def _check_names(self) -> "RoundRow":
        known = self.replies
        named = [name for pair in self.pairs for name in pair] + self.good + self.bad + (self.honest or [])
        for name in named:
            if name not in known:
                raise ValueError(f"no answer is called {name[:60]!r}")
        if any(better == worse for better, worse in self.pairs) or set(self.good) & set(self.bad):
            raise ValueError("an answer is both better and worse")
        return self

    @property
    def replies(self) -> dict[str, Any]:
        """The answers by hotkey; one without a name is called by its number."""
        given = self.question.get("answers")
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            raise ValueError("question.answers must be a list of objects")
        named = [(str(one.get("hotkey", f"answer-{number}")), one) for number, one in enumerate(given)]
        if len(dict(named)) < len(named):
            raise ValueError("two answers have the same hotkey")
        return {name: {key: one[key] for key in one if key != "hotkey"} for name, one in named}

    @property
    def lengths(self) -> dict[str, int]:
        return {name: count_letters(reply) for name, reply in self.replies.items()}


def count_letters(reply: Any) -> int:
    """Characters of all texts in a reply; blanks do not count, so that a text has the same length however it is cut.

    >>> count_letters({"text": "a bc", "parts": ["d", {"e": "fg"}], "seconds": 2.0})
    6
    """
    if isinstance(reply, str):
        return sum(map(len, reply.split()))
    inner = reply.values() if isinstance(reply, dict) else reply if isinstance(reply, list) else ()
    return sum(map(count_letters, inner))


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """Results of a round by hotkey: scores turned so that higher is better (None if unscored), and its pay if
    it is recorded."""

    scores: Mapping[str, float | None]
    refused: frozenset[str]
    best: str | None
    pay: Mapping[str, float] | None = None


def judge_rounds(
    mechanism: Mechanism, better: Literal["higher", "lower"], params: Any, rows: Sequence[RoundRow], senses: Senses
) -> Iterable[ScoredAnswers]:
    """Observed and scored one by one, as a validator does. Questions are parsed first: a bad one costs no hour."""
    for row, asked in [(row, _parse(mechanism, row)) for row in rows]:
        with contain(mechanism.name, f"scoring of {row.place}"):
            observation = mechanism.observe(params, asked, senses)
            scored = mechanism.score(params, observation)
            best = mechanism.best(params, observation, scored)
        emissions = scored.summary.get("emissions") if mechanism.rule.standing == "emissions" else None
        yield ScoredAnswers(
            scores={score.hotkey: _turn(score, better) for score in scored.scores},
            refused=frozenset(score.hotkey for score in scored.scores if score.status != "valid"),
            best=best,
            pay=None if emissions is None else {name: float(value or 0.0) for name, value in emissions.items()},
        )


def _parse(mechanism: Mechanism, row: RoundRow) -> Asked:
    try:
        with contain(mechanism.name, "parse_question"):
            return mechanism.parse_question(row.question)
    except WeighbeamError as fault:
        raise row.refuse(f"{fault.message} [{fault.code}]", fault.remedy) from None


def _turn(score: Score, better: Literal["higher", "lower"]) -> float | None:
    """Where lower is better, a failed answer is worse than any other, whatever its value."""
    if score.value is None or better == "higher":
        return score.value
    return -score.value if score.status == "valid" else -float("inf")


def measure_rounds(
    rows: Sequence[RoundRow], outcomes: Sequence[ScoredAnswers], chance: np.random.Generator
) -> Measured:
    """Pairs of one round hang together, so it is rounds that are drawn again."""
    found, both = Findings(chance), list(zip(rows, outcomes, strict=True))
    shorter = [_list_shorter(row) for row in rows]
    pairs = [row.pairs for row in rows]
    scores = [one.scores for one in outcomes]
    for name, values, compared in (
        ("pairwise_accuracy", scores, pairs),
        ("accuracy_if_shorter", scores, shorter),
        ("length_alone", [row.lengths for row in rows], pairs),
        ("pay_accuracy", [one.pay or {} for one in outcomes], pairs if all(one.pay for one in outcomes) else []),
    ):
        found.draw(name, *_count_wins(values, compared))
    right = [(row, one) for row, one in both if row.good and row.bad]
    found.share("best_is_right", (one.best in row.good for row, one in right))
    found.share("honest_refused", (name in one.refused for row, one in both for name in _list_honest(row)))
    found.share("right_refused", (name in one.refused for row, one in both for name in row.good))
    unscored = [value is None for one in outcomes for value in one.scores.values()]
    if any(unscored):
        found.share("unscored", unscored)
    return Measured(found.found)


def _list_shorter(row: RoundRow) -> list[tuple[str, str]]:
    lengths = row.lengths
    return [(better, worse) for better, worse in row.pairs if lengths[better] < lengths[worse]]


def _list_honest(row: RoundRow) -> Iterable[str]:
    """Everybody, unless the row says who."""
    return row.replies if row.honest is None else row.honest


def _count_wins(
    values: Sequence[Mapping[str, float | None]], pairs: Sequence[Sequence[tuple[str, str]]]
) -> tuple[Statistic, int]:
    """Won pairs over pairs, of the rounds that have any; a pair with an unscored answer tells nothing."""
    wins, sizes = [], []
    for had, compared in zip(values, pairs, strict=False):
        got = [(had.get(better), had.get(worse)) for better, worse in compared]
        won = [compare(one, other) for one, other in got if one is not None and other is not None]
        if won:
            wins.append(sum(won))
            sizes.append(float(len(won)))
    return mean_of(wins, sizes), len(wins)


def make_round_kind(
    mechanism: Mechanism, sample: Path | None = None, better: Literal["higher", "lower"] | None = None
) -> RowKind:
    """Labelled rounds of a mechanism. `better` is of the values of its scores, if that is another than of its
    standings."""
    return RowKind(
        name="round",
        row=RoundRow,
        formats=(RowFormat("round", has_fields("question")), *ANSWER_FORMATS),
        judge=partial(judge_rounds, mechanism, better or mechanism.better),
        measure=measure_rounds,
        meanings=MEANINGS,
        sample=sample,
    )
