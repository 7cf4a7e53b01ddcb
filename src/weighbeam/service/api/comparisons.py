"""Comparisons over HTTP: two miners, two rounds or two validators, and where they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from weighbeam.engine.views.compare import (
    AnswerPair,
    MinerRecord,
    PartGap,
    ScoreInRound,
    SharedRound,
    WeightPair,
    compare_validators,
    count_codes,
    count_shared,
    find_round_before,
    list_changed,
    list_last_scores,
    list_shared_rounds,
    open_other_journal,
    pair_answers,
)
from weighbeam.engine.views.miner import MinerView, ScoreLine
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.round_view import AnswerView, RoundView, select_round_view
from weighbeam.engine.views.rounds import Kind
from weighbeam.engine.weights.metagraphs import NeuronView
from weighbeam.service.api.mechanisms import choose_mechanism
from weighbeam.service.api.query import HotkeyName, MechanismName, Query
from weighbeam.service.api.reader import ReadingApi

SECONDS = 15.0
NO_PAYLOADS = 0
MINER = "name, uid or hotkey of the {} miner"


class MinersQuery(Query):
    a: Annotated[str, Field(min_length=1, description=MINER.format("first"))]
    b: Annotated[str, Field(min_length=1, description=MINER.format("second"))]
    mechanism: MechanismName = None


class RoundsPairQuery(Query):
    b: Annotated[str, Field(min_length=1, description="the second round")]
    a: Annotated[str | None, Field(description="the first round; else the one before the second")] = None


class ValidatorsQuery(Query):
    mechanism: MechanismName = None
    other: Annotated[
        str | None, Field(description="a journal of `service.journals`, by its file's name; else the first")
    ] = None
    miner: HotkeyName = None


class MinerCompared(BaseModel):
    """One of two miners; `reasons` are counted over the rounds of both."""

    hotkey: str
    name: str | None
    uid: int | None
    place: int | None
    standing: float | None
    spread: float | None
    share: float | None
    incentive: float | None
    reasons: dict[str, int]


class SharedRoundShown(BaseModel):
    """A round of both; `gap` is the part of their scores that differs most."""

    round: str
    at: float
    a: ScoreInRound
    b: ScoreInRound
    difference: Annotated[float | None, Field(description="the score of `a` less that of `b`")]
    gap: PartGap | None


class MinersCompared(BaseModel):
    """Two miners in the newest 100 rounds at most that judged both."""

    mechanism: str
    a: MinerCompared
    b: MinerCompared
    counted: Annotated[int, Field(description="rounds of both")]
    a_ahead: int
    b_ahead: int
    mean_difference: float | None
    rounds: list[SharedRoundShown]


class RoundCompared(BaseModel):
    """One of two rounds."""

    id: str
    mechanism: str
    state: str
    kind: Kind
    at: float
    block: int
    answers: int
    valid: int


class Changed(BaseModel):
    """A parameter that differs."""

    name: str
    a: Any
    b: Any


class AnswerCompared(BaseModel):
    """One answer of a pair; the place counts from 1 among valid answers."""

    status: str | None
    value: float | None
    reasons: list[str]
    place: int | None


class PairShown(BaseModel):
    """A miner in two rounds; null where it was not asked."""

    hotkey: str
    name: str | None
    a: AnswerCompared | None
    b: AnswerCompared | None
    climbed: Annotated[int | None, Field(description="places gained in the second round")]


class RoundsCompared(BaseModel):
    """Two rounds: changed parameters, and every miner of either, the greatest changes of place first."""

    a: RoundCompared | None
    b: RoundCompared
    params: list[Changed]
    answers: list[PairShown]


class WeightCompared(BaseModel):
    """A miner's part of the weights, 0 to 1. `clipped` is ours above the consensus: it lowers our vtrust."""

    hotkey: str
    name: str | None
    uid: int
    ours: float
    theirs: float | None
    consensus: float
    clipped: float
    record: Annotated[MinerRecord | None, Field(description="how we judged it in a day")]
    other_record: Annotated[MinerRecord | None, Field(description="how the other validator did")]


class ValidatorCompared(BaseModel):
    uid: int
    hotkey: str
    vtrust: float


class ScoresCompared(BaseModel):
    """The newest scores of one miner by each validator."""

    hotkey: str
    ours: list[ScoreLine]
    theirs: list[ScoreLine] | None


class ValidatorsCompared(BaseModel):
    """Our weights beside the consensus and another validator's; `block` is null while the chain has not been read."""

    mechanism: str
    journals: Annotated[list[str], Field(description="names that `other` takes")]
    other: str | None
    block: int | None
    kept: Annotated[float | None, Field(description="the part of our weights that the consensus keeps")]
    own: ValidatorCompared | None
    them: ValidatorCompared | None
    miners: list[WeightCompared]
    scores: Annotated[ScoresCompared | None, Field(description="of `miner`")]


def add_comparisons(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="comparisons", refused=(404,), seconds=SECONDS), reader.shown

    @route("/compare/miners", MinersCompared, query=MinersQuery)
    def compare_miners(given: MinersQuery) -> Any:
        """Two miners in the rounds that judged both, and what set them apart."""
        name, book = choose_mechanism(shown, given.mechanism), shown.load_names()
        mechanism = shown.mechanisms[name][0]
        a, b = (reader.read_miner(mechanism, book.resolve(one, name)) for one in (given.a, given.b))
        shared = list_shared_rounds(shown.store, name, a.hotkey, b.hotkey)
        totals = count_shared(shared)
        return {
            "mechanism": name,
            "a": _describe_miner(book.name_line(a, name), [one.a for one in shared]),
            "b": _describe_miner(book.name_line(b, name), [one.b for one in shared]),
            "counted": totals.counted,
            "a_ahead": totals.better,
            "b_ahead": totals.worse,
            "mean_difference": totals.mean,
            "rounds": [_describe_shared(one) for one in shared],
        }

    @route("/compare/rounds", RoundsCompared, query=RoundsPairQuery)
    def compare_rounds(given: RoundsPairQuery) -> Any:
        """Two rounds: which miners did better or worse in the second, and which parameters changed between them."""
        b = select_round_view(shown.store, given.b, True, NO_PAYLOADS)
        first = given.a or find_round_before(shown.store, b)
        a = None if first is None else select_round_view(shown.store, first, True, NO_PAYLOADS)
        book = shown.load_names()
        return {
            "a": None if a is None else _describe_round(a),
            "b": _describe_round(b),
            "params": []
            if a is None
            else [{"name": n, "a": x, "b": y} for n, x, y in list_changed(a.params, b.params)],
            "answers": [] if a is None else [_describe_pair(one, book, b.mechanism) for one in pair_answers(a, b)],
        }

    @route("/compare/validators", ValidatorsCompared, query=ValidatorsQuery)
    def compare_weights(given: ValidatorsQuery) -> Any:
        """Our weights beside the chain's consensus and another validator's: where we differ, and from which scores."""
        name = choose_mechanism(shown, given.mechanism)
        book = shown.load_names()
        miner = None if given.miner is None else book.resolve(given.miner, name)
        with open_other_journal(shown.journals, given.other) as (chosen, other):
            found = compare_validators(shown.store, other, name)
            scores = None if miner is None else {
                "hotkey": miner,
                "ours": list_last_scores(shown.store, name, miner),
                "theirs": None if other is None else list_last_scores(other, name, miner),
            }  # fmt: skip
        head = {"mechanism": name, "journals": list(shown.journals), "other": chosen, "scores": scores}
        if found is None:
            return {**head, "block": None, "kept": None, "own": None, "them": None, "miners": []}
        return {
            **head,
            "block": found.graph.block,
            "kept": found.kept,
            "own": _describe_validator(found.own),
            "them": _describe_validator(found.other),
            "miners": [_describe_weight(one, book, name) for one in found.pairs],
        }


def _describe_miner(view: MinerView, sides: Sequence[ScoreInRound]) -> Mapping[str, Any]:
    fields = ("hotkey", "name", "uid", "place", "standing", "spread", "share", "incentive")
    return {**{name: getattr(view, name) for name in fields}, "reasons": dict(count_codes(sides))}


def _describe_shared(one: SharedRound) -> Mapping[str, Any]:
    return {"round": one.id, "at": one.at, "a": one.a, "b": one.b, "difference": one.difference, "gap": one.gap}


def _describe_round(view: RoundView) -> Mapping[str, Any]:
    fields = ("id", "mechanism", "state", "kind", "at", "block")
    valid = sum(one.status == "valid" for one in view.answers)
    return {**{name: getattr(view, name) for name in fields}, "answers": len(view.answers), "valid": valid}


def _describe_pair(pair: AnswerPair, book: NameBook, mechanism: str) -> Mapping[str, Any]:
    return {
        "hotkey": pair.hotkey,
        "name": book.name(pair.hotkey, mechanism),
        "a": _describe_answer(pair.a, pair.place_a),
        "b": _describe_answer(pair.b, pair.place_b),
        "climbed": pair.climbed,
    }


def _describe_answer(one: AnswerView | None, place: int | None) -> Mapping[str, Any] | None:
    if one is None:
        return None
    return {"status": one.status, "value": one.value, "reasons": one.reasons, "place": place}


def _describe_validator(one: NeuronView | None) -> Mapping[str, Any] | None:
    return None if one is None else {"uid": one.uid, "hotkey": one.hotkey, "vtrust": one.vtrust}


def _describe_weight(one: WeightPair, book: NameBook, mechanism: str) -> Mapping[str, Any]:
    known = asdict(one)
    other = known.pop("other")
    return {**known, "other_record": other, "name": book.name(one.hotkey, mechanism), "clipped": one.clipped}
