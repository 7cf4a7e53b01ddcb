"""Advice to an inference miner: what failing, leaving the consensus and each part of its score cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.mechanism.advice import (
    advise_failures,
    average,
    choose_advice,
    count,
    list_valid,
    measure_gap,
    shown,
)
from weighbeam.mechanism.records import Advice, ScorePair
from weighbeam.mechanisms.inference.composite import CONFIDENCE, MEMBER, QUALITY, SIMILARITY
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reasons import MEANINGS, OUT

Parts = Mapping[str, Any]
LEAST_FACTOR = 0.01


def advise_voice(params: InferenceParams, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
    """From the parts of its scores, in points of 100."""
    found = [*advise_failures(pairs, MEANINGS), *_advise_consensus(pairs), *_advise_truth(pairs)]
    both = [(own.parts, best.parts) for own, best in list_valid(pairs) if own.parts and best and best.parts]
    rounds = max(1, len(pairs))
    found += [_advise_quality(both, rounds), _advise_near(both, rounds)]
    found += [_advise_confidence(both, rounds)] if params.weighted_scoring else []
    return choose_advice(found, measure_gap(pairs))


def _advise_consensus(pairs: Sequence[ScorePair]) -> list[Advice]:
    """Advise miners outside the consensus: they lose the members' points, and part of those for similarity."""
    hit = [own for own, _ in list_valid(pairs) if any(code in OUT for code in own.reasons)]
    codes = Counter(code for own in hit for code in own.reasons if code in OUT)
    if not codes:
        return []
    gain = sum(_lost_outside(own.parts or {}) for own in hit) / len(pairs)
    named = ", ".join(f"{code} in {times}" for code, times in codes.most_common(3))
    main = codes.most_common(1)[0][0]
    text = f"{count(hit, pairs)} were out of the consensus ({named}). {MEANINGS[main]} That cost {shown(gain)} points"
    return [Advice("Be part of the consensus", f"{text} per round", gain)]


def _advise_truth(pairs: Sequence[ScorePair]) -> list[Advice]:
    """Cost of wrong answers in their own rounds; the lower truth costs more in all others."""
    judged = [own for own, _ in list_valid(pairs) if own.parts and "truth" in own.parts]
    hit = [own for own in judged if "wrong" in own.reasons]
    if not hit:
        return []
    gain = sum((own.value or 0.0) * (1 / max((own.parts or {})["truth_factor"], LEAST_FACTOR) - 1) for own in hit)
    text = (
        f"{len(hit)} of {len(judged)} answers to questions with a known result were wrong, which cost at least "
        f"{shown(gain / len(pairs))} points per round and lowers the pay of all your rounds. {MEANINGS['wrong']}"
    )
    return [Advice("Get the answer right", text, gain / len(pairs))]


def _lost_outside(parts: Parts) -> float:
    regained: float = MEMBER - parts["consensus"] + SIMILARITY * parts["near"] * (1 - parts["penalty"])
    return max(0.0, regained - float(parts["diversity"]))


def _advise_quality(both: Sequence[tuple[Parts, Parts]], rounds: int) -> Advice:
    gain = sum(max(0.0, best["quality"] - own["quality"]) for own, best in both) / rounds
    mine, theirs = _compare(both, "quality", QUALITY)
    text = (
        f"The quality of your answers was {mine:.2f} on average and that of the best {theirs:.2f}: say more that is "
        f"specific (facts, names, numbers) in whole sentences of your own; that would bring "
        f"{shown(gain)} points a round"
    )
    return Advice("Answer with more substance", text, gain)


def _advise_near(both: Sequence[tuple[Parts, Parts]], rounds: int) -> Advice:
    gain = sum(max(0.0, best["near"] - own["near"]) * own["penalty"] for own, best in both) * SIMILARITY / rounds
    mine, theirs = _compare(both, "near", 1.0)
    text = (
        f"Your answers were alike those of the others by {mine:.2f} on average and the best by {theirs:.2f}: answer "
        f"the question itself, without asides; that would bring {shown(gain)} points per round"
    )
    return Advice("Keep to the question", text, gain)


def _advise_confidence(both: Sequence[tuple[Parts, Parts]], rounds: int) -> Advice:
    gain = sum(max(0.0, best["claim"] - own["claim"]) for own, best in both) * CONFIDENCE / rounds
    mine, theirs = _compare(both, "claim", 1.0)
    text = (
        f"You claimed a confidence of {mine:.2f} on average and the best {theirs:.2f}; leaving it out counts as 0.5. "
        f"Where you are as sure, claiming as much would bring {shown(gain)} points per round"
    )
    return Advice("Say how sure you are", text, gain)


def _compare(both: Sequence[tuple[Parts, Parts]], name: str, scale: float) -> tuple[float, float]:
    mine, theirs = ([row[side][name] / scale for row in both] for side in (0, 1))
    return average(mine), average(theirs)
