"""A whole round from what was received to what everyone earns: §§ 4-11 one after the other. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.inference.agreement.alerts import raise_alerts
from weighbeam.mechanisms.inference.agreement.clusters import take_submatrix
from weighbeam.mechanisms.inference.agreement.consensus import (
    Consensus,
    ConsensusGroup,
    choose_measured,
    measure_consensus,
)
from weighbeam.mechanisms.inference.agreement.filter import FilteredAnswers, ReceivedAnswers, filter_answers
from weighbeam.mechanisms.inference.composite import (
    POINTS,
    Standpoint,
    compose_parts,
    find_best,
    lacks_confidence,
    measure_near,
    parse_confidence,
    rank_points,
    sum_parts,
)
from weighbeam.mechanisms.inference.emissions import AnswerPay, AnswerPayee, parse_seconds, pay_answers
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.marks import Truth, TruthMarks, find_factor
from weighbeam.mechanisms.inference.text.words import Polarity
from weighbeam.mechanisms.inference.tolerance import reaches


@dataclass(frozen=True, slots=True)
class RoundInput:
    """A round as scoring meets it. `seconds`, `confidence`, `polarity` and `truth` go with `received`; `missed` says
    why not. Without a reference nobody's `truth` is known."""

    received: ReceivedAnswers
    seconds: tuple[object, ...]
    confidence: tuple[object, ...]
    polarity: tuple[Polarity, ...]
    missed: Mapping[str, str]
    truth: tuple[Truth, ...] | None = None


@dataclass(frozen=True, slots=True)
class JudgedRound:
    """A round, judged. Maps are by hotkey; `parts` and what is paid only of unflagged answers of a valid round."""

    void: bool
    filtered: FilteredAnswers
    measured: ConsensusGroup
    consensus: Consensus
    pool: float
    inside: tuple[str, ...]
    removed: dict[str, str]
    parts: dict[str, dict[str, Any]]
    scores: dict[str, float | None]
    paid: AnswerPay
    best: str | None
    low_confidence: bool
    alerts: list[dict[str, Any]]


def judge_round(given: RoundInput, params: InferenceParams) -> JudgedRound:
    """Everything that follows from a round."""
    marks = TruthMarks.of(given.truth, len(given.received))
    lifted = marks.lift(given.received.quality, given.received.words, params.quality_threshold)
    received = replace(given.received, quality=lifted)
    given = replace(given, received=received)
    void = len(received) < params.min_miners
    filtered = filter_answers(received, params, marks)
    measured = choose_measured(filtered, params.quorum if received.kind == "short" else 0.0)
    consensus = _measure(given, filtered, measured, params)
    inside = np.zeros(len(received), dtype=bool)
    inside[[measured.members[i] for i in consensus.inside]] = True
    removed = _name_removed(filtered, measured, consensus, inside)
    pool = _find_pool(received, filtered, consensus)
    parts = {} if void else _compose(given, filtered, measured, inside, removed, params)
    scores = {hotkey: sum_parts(own) for hotkey, own in parts.items()}
    paid = pay_answers(_list_payees(given, filtered, inside, scores), pool, consensus.achieved, params)
    known = {hotkey: parse_seconds(seconds) for hotkey, seconds in zip(received.hotkeys, given.seconds, strict=True)}
    best = find_best([(key, score, _last_if_none(known[key])) for key, score in scores.items()])
    return JudgedRound(
        void=void,
        filtered=filtered,
        measured=measured,
        consensus=consensus,
        pool=pool,
        inside=() if void else tuple(received.name(np.flatnonzero(inside))),
        removed={} if void else {received.hotkeys[i]: reason for i, reason in sorted(removed.items())},
        parts=parts,
        scores=_score_everyone(given, scores, void),
        paid=paid,
        best=best,
        low_confidence=best is None
        or lacks_confidence(scores[best], parts[best]["claim"], "rank" in parts[best], params),
        alerts=raise_alerts(received, filtered, void, params),
    )


def format_judged(given: RoundInput, judged: JudgedRound) -> dict[str, Any]:
    """The output of stage `inference.score`."""
    received, consensus, void = given.received, judged.consensus, judged.void
    everyone = sorted([*received.hotkeys, *given.missed])
    earned, inside = judged.paid.emissions, set(judged.inside)
    return {
        "void": void,
        "consensus_score": None if void else consensus.score,
        "mu": None if void else consensus.mu,
        "sigma": None if void else consensus.sigma,
        "agreement": None if void else consensus.agreement,
        "achieved": consensus.achieved and not void,
        "pool": None if void else judged.pool,
        "scores": {hotkey: judged.scores[hotkey] for hotkey in everyone},
        "parts": {hotkey: {name: own[name] for name in POINTS} for hotkey, own in judged.parts.items()},
        "emissions": {key: None if judged.scores[key] is None else earned.get(key, 0.0) for key in everyone},
        "speed": {hotkey: judged.paid.speed.get(hotkey) for hotkey in received.hotkeys},
        "bonus": None if void else judged.paid.bonus,
        "in_consensus": list(judged.inside),
        "out_of_consensus": [hotkey for hotkey in received.hotkeys if hotkey not in inside],
        "quality": dict(zip(received.hotkeys, received.quality.tolist(), strict=True)),
        "flagged": received.name(np.flatnonzero(judged.filtered.flagged)),
        "removed": judged.removed,
        "groups": [received.name(group) for group in judged.filtered.list_groups()],
        "best": judged.best,
        "low_confidence": judged.low_confidence,
        "alerts": judged.alerts,
        **({} if given.truth is None else {"truth": dict(zip(received.hotkeys, given.truth, strict=True))}),
    }


def _measure(
    given: RoundInput, filtered: FilteredAnswers, measured: ConsensusGroup, params: InferenceParams
) -> Consensus:
    members = np.array(measured.members, dtype=np.intp)
    return measure_consensus(
        take_submatrix(given.received.bonds, members),
        given.received.quality[members],
        filtered.vote[members],
        filtered.voice[members],
        [given.polarity[i] for i in measured.members],
        measured.cluster,
        params,
    )


def _find_pool(received: ReceivedAnswers, filtered: FilteredAnswers, consensus: Consensus) -> float:
    """Pool of a round; one honest answer among garbage is paid by its quality."""
    if consensus.pool is not None:
        return consensus.pool
    kept = received.quality[filtered.kept]
    return float(kept.mean()) if len(kept) else 0.0


def _name_removed(
    filtered: FilteredAnswers, measured: ConsensusGroup, consensus: Consensus, inside: NDArray[np.bool_]
) -> dict[int, str]:
    """The one reason of each answer that is out."""
    contradicting = {measured.members[i] for i in consensus.contradicting}
    removed: dict[int, str] = {}
    for number in np.flatnonzero(~inside).tolist():
        if filtered.flagged[number]:
            removed[number] = "low_quality"
        elif filtered.wrong[number]:
            removed[number] = "wrong"
        elif filtered.outlier[number]:
            removed[number] = "outlier"
        elif filtered.short[number]:
            removed[number] = "short"
        elif number in contradicting:
            removed[number] = "contradicts"
        elif measured.cluster:
            removed[number] = "other_cluster"
    return removed


def _compose(
    given: RoundInput,
    filtered: FilteredAnswers,
    measured: ConsensusGroup,
    inside: NDArray[np.bool_],
    removed: Mapping[int, str],
    params: InferenceParams,
) -> dict[str, dict[str, Any]]:
    """The parts of every unflagged answer's score."""
    received = given.received
    apart = np.arange(len(received)) if measured.all_pairs else filtered.voice
    peers = inside if measured.cluster else filtered.kept
    near = measure_near(received.alike, filtered.vote, apart, peers, received.quality)
    typical = float(near[inside].mean()) if received.agreement is not None and inside.any() else None
    shared = {number for group in filtered.list_groups() for number in group}
    stands = []
    for number in np.flatnonzero(~filtered.flagged).tolist():
        quality, reason = float(received.quality[number]), removed.get(number)
        good = reaches(quality, params.high_quality)
        standpoint = Standpoint(
            near=float(near[number]),
            quality=quality,
            confidence=parse_confidence(given.confidence[number], params),
            member=bool(inside[number]),
            removed=reason,
            diverse=reason == "other_cluster" and good and number not in shared,
            typical=typical,
        )
        stands.append((number, standpoint))
    calibrated = params.calibration and received.kind is not None
    return {
        received.hotkeys[number]: {
            **compose_parts(standpoint, params),
            "claim": standpoint.confidence,
            **_weigh_truth(None if given.truth is None else given.truth[number], params),
        }
        for number, standpoint in (_rank(stands, params) if calibrated else stands)
    }


def _rank(stands: Sequence[tuple[int, Standpoint]], params: InferenceParams) -> list[tuple[int, Standpoint]]:
    """With the share of the others that each one beats, by all points but those of its claim."""
    neutral = [compose_parts(replace(own, confidence=0.0), params) for _, own in stands]
    ranks = rank_points([sum_parts(parts) for parts in neutral])
    return [(number, replace(own, rank=rank)) for (number, own), rank in zip(stands, ranks, strict=True)]


def _weigh_truth(truth: Truth, params: InferenceParams) -> dict[str, float]:
    return {} if truth is None else {"truth": truth, "truth_factor": find_factor(truth, params.wrong_factor)}


def _list_payees(
    given: RoundInput, filtered: FilteredAnswers, inside: NDArray[np.bool_], scores: Mapping[str, float]
) -> list[AnswerPayee]:
    hotkeys = given.received.hotkeys
    return [
        AnswerPayee(
            hotkey=hotkey,
            score=scores[hotkey],
            seconds=given.seconds[number],
            member=bool(inside[number]),
            pay=float(filtered.pay[number]),
            group=hotkeys[filtered.group[number]],
        )
        for number, hotkey in enumerate(hotkeys)
        if hotkey in scores
    ]


def _score_everyone(given: RoundInput, scores: Mapping[str, float], void: bool) -> dict[str, float | None]:
    """Unscored means our fault or a void round; others without a score get 0."""
    received = dict.fromkeys(given.received.hotkeys, "ok")
    statuses = {**received, **given.missed}
    return {
        hotkey: None if void or status == "validator_error" else scores.get(hotkey, 0.0)
        for hotkey, status in sorted(statuses.items())
    }


def _last_if_none(seconds: float | None) -> float:
    return math.inf if seconds is None else seconds
