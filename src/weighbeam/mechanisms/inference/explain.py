"""A score as a tree whose arithmetic a person can follow: quality, agreement, points, pay."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.records import Node, Observation, Score, Scored
from weighbeam.mechanisms.inference.composite import CONFIDENCE, MEMBER, QUALITY, SIMILARITY
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reasons import MEANINGS
from weighbeam.mechanisms.inference.reference.explain import explain_truth
from weighbeam.mechanisms.inference.score import RejudgedRound, replay_round
from weighbeam.mechanisms.inference.text.kind_quality import BASE, KindQuality, list_parts
from weighbeam.mechanisms.inference.text.quality import Quality

ASKS = {
    "code": "code: what functions do counts, where it can be tried",
    "number": "a number: answers that come to the same value agree",
    "short": "a few words: answers agree by these, and by not contradicting each other",
    "open": "an answer in sentences: answers agree by what they say beyond the question",
}


def explain_score(params: InferenceParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
    """Why `hotkey` got its score, and what it earned."""
    score = next(score for score in scored.scores if score.hotkey == hotkey)
    replayed = replay_round(params, observation)
    quality = replayed.qualities.get(hotkey)
    told = [] if quality is None else [_explain_quality(quality, params)]
    kind = observation.facts["task"].get("asks")
    told = [*([] if kind is None else [Node(f"the question asks for {ASKS[kind]}")]), *told]
    told = [*told, *_explain_denials(observation.facts, hotkey)]
    told = [*explain_truth(params, observation.facts, hotkey), *told]
    if score.value is None or score.parts is None:
        faults = [Node(fault) for fault in observation.facts["faults"]] if "validator_fault" in score.reasons else []
        shown = "unscored" if score.value is None else "score 0, emission 0"
        return Node(f"{hotkey}: {shown}", (*_explain_reasons(score), *faults, *told))
    return Node(
        f"{hotkey}: score {score.value:.9g} of 100, emission {replayed.judged.paid.emissions[hotkey]:.9g}",
        (
            *_explain_reasons(score),
            _explain_points(params, score),
            _explain_emission(params, replayed, score),
            *told,
            _explain_consensus(params, replayed),
        ),
    )


def _explain_denials(facts: Mapping[str, Any], hotkey: str) -> list[Node]:
    """How much more the other answers deny this one than the middle one."""
    text = next((one["text"] for one in facts["miners"] if one["hotkey"] == hotkey), None)
    denied = 0.0 if text is None else facts["texts"][text].get("denied", 0.0)
    if not denied:
        return []
    more = f"{denied:.1%} more than they deny the middle answer"
    return [Node(f"the other answers deny it {more}, which lowers its similarity by as much")]


def _explain_reasons(score: Score) -> tuple[Node, ...]:
    return tuple(Node(f"{reason}: {MEANINGS[reason]}") for reason in score.reasons)


def _explain_points(params: InferenceParams, score: Score) -> Node:
    parts = score.parts or {}
    near, penalty = parts["near"], parts["penalty"]
    lines = [
        f"similarity {parts['similarity']:.6g} = {SIMILARITY:g} × near {near:.6g} × penalty {penalty:g}",
        f"quality {parts['quality']:.6g} = {QUALITY:g} × {parts['quality'] / QUALITY:.6g}",
        f"confidence {parts['confidence']:.6g} = {CONFIDENCE:g} × {_explain_claim(parts)}",
        f"consensus {parts['consensus']:g} = {MEMBER:g} × member {int(parts['consensus'] > 0)}",
        f"diversity {parts['diversity']:.6g}" + _explain_diversity(params, score),
    ]
    names = ("similarity", "quality", "confidence", "consensus", "diversity")
    sums = " + ".join(f"{parts[name]:.6g}" for name in names)
    if "truth_factor" in parts:
        sums = f"({sums}) × truth factor {parts['truth_factor']:.6g}"
    return Node(f"score = {sums} = {score.value:.9g}", tuple(map(Node, lines)))


def _explain_claim(parts: Mapping[str, Any]) -> str:
    claim = parts["claim"]
    if "rank" not in parts:
        return f"claim {claim:.6g}"
    claimed, beaten = claim - 0.5, parts["rank"] - 0.5
    sums = f"(0.5 + 2 × {claimed:.6g} × {beaten:.6g} − {claimed:.6g}²), at least 0"
    return f"{sums}: claim {claim:.6g}, ahead of {parts['rank']:.1%} of the others, both less 0.5"


def _explain_diversity(params: InferenceParams, score: Score) -> str:
    parts = score.parts or {}
    if not parts["diversity"]:
        return ""
    if "typical" in parts:
        points, typical = 100 * params.diversity_max, parts["typical"]
        near = parts["near"]
        return f" = min({MEMBER:g}, {points:g} × (1 − {near:.6g}) × min(1, {near:.6g} / {typical:.6g}))"
    limit, high, quality = params.diversity_max, params.high_quality, parts["quality"] / QUALITY
    return f" = 100 × min({limit:g}, {limit:g} × (1 − {parts['near']:.6g}) × {quality:.6g} / {high:g})"


def _explain_emission(params: InferenceParams, replayed: RejudgedRound, score: Score) -> Node:
    judged, hotkey = replayed.judged, score.hotkey
    number = replayed.given.received.hotkeys.index(hotkey)
    pay, vote = float(judged.filtered.pay[number]), float(judged.filtered.vote[number])
    multiplier = params.consensus_multiplier if hotkey in judged.inside and judged.consensus.achieved else 1.0
    leads = hotkey in judged.paid.top
    bonus, lead = judged.paid.bonus if leads else 1.0, judged.paid.lead
    group = [key for names in judged.filtered.list_groups() for key in names if number in names]
    copies = replayed.given.received.name(group)
    seconds = replayed.given.seconds[number]
    owned = f", shared by {len(copies)}: {', '.join(copies)}" if copies else ": the text is its own"
    borrowed = replayed.given.received.borrowed
    owned += (
        ""
        if borrowed is None
        else f", {borrowed[number, int(bool(copies))]:.1%} of it word for word in earlier answers"
    )
    achieved = "achieved" if judged.consensus.achieved else "not achieved"
    place = "a member" if hotkey in judged.inside else "not a member"
    lines = [
        f"pool {judged.pool:.6g}: what the round has to give",
        f"speed {judged.paid.speed[hotkey]:.6g}: {seconds} s beside the others",
        f"pay {pay:.6g}{owned}; vote {vote:.6g}",
        f"multiplier {multiplier:g}: consensus {achieved}, {place}",
        f"bonus {bonus:.6g}" + (f": top by {lead:.6g} points" if leads else ": not the top"),
    ]
    factors = (judged.pool, judged.paid.speed[hotkey], (score.value or 0.0) / 100, pay, multiplier, bonus)
    sums = " × ".join(f"{factor:.6g}" for factor in factors)
    return Node(f"emission = {sums} = {judged.paid.emissions[hotkey]:.9g}", tuple(map(Node, lines)))


def _explain_quality(quality: Quality | KindQuality, params: InferenceParams) -> Node:
    if isinstance(quality, KindQuality):
        return _explain_kind_quality(quality)
    q = quality
    if not q.words:
        return Node("quality 0: no words")
    children = (
        Node(
            f"relevance {q.relevance:.6g} = on topic {q.on_topic:.6g} × own words {q.own_words:.6g}",
            (
                Node(f"on topic: closeness to the prompt {q.closeness:.6g}, from 0.05 to 0.85"),
                Node(f"own words: {q.fresh} new stems, {q.fresh_share:.1%} of its own; {q.echo_share:.1%} echo"),
            ),
        ),
        Node(f"density {q.density:.6g}: {q.fresh} new stems, {q.content_share:.1%} content words"),
        Node(f"specificity {q.specificity:.6g}: {q.marks} figures, names and long words"),
        Node(
            f"coherence {q.coherence:.6g} = flow {q.flow:.6g} × language {q.language:.6g}",
            (
                Node(f"language = glue {q.glue:.6g} × variety {q.variety:.6g} × distinct {q.distinct:.6g}"),
                Node(f"{q.words} words, {q.sentences} sentences, {q.glue_share:.1%} function words"),
            ),
        ),
        Node(f"gate {q.gate:.6g} = min(1, relevance / 0.2) × min(1, language / 0.3)"),
    )
    weights = ((0.4, q.relevance), (0.2, q.density), (0.2, q.specificity), (0.2, q.coherence))
    sums = " + ".join(f"{weight:g}·{value:.6g}" for weight, value in weights)
    below = f", below {params.quality_threshold:g}" if q.flagged else ""
    return Node(f"quality = ({sums}) × {q.gate:.6g} = {q.quality:.9g}{below}", children)


def _explain_kind_quality(quality: KindQuality) -> Node:
    """How an answer was read by the kind of its question."""
    told = tuple(Node(f"{name} {value:.6g}, weight {weight:g}") for name, weight, value in list_parts(quality))
    lines = (Node(f"{quality.words} words, {quality.topic:.6g} near the subject"), *told)
    if quality.flagged:
        return Node(f"quality 0: {', '.join(quality.reasons)}", lines)
    rich = " + ".join(f"{weight:g}·{value:.6g}" for _, weight, value in list_parts(quality))
    sums = f"{BASE:g} + {1 - BASE:g} × ({rich}) × substance {quality.substance:.6g}"
    return Node(f"quality = {sums} = {quality.quality:.9g}", lines)


def _explain_consensus(params: InferenceParams, replayed: RejudgedRound) -> Node:
    judged = replayed.judged
    found = judged.consensus
    state = "achieved" if found.achieved else "not achieved"
    sums = f"{found.mu:.6g} + {params.lambda_factor:g}·{found.sigma:.6g} = {found.score:.9g}"
    lines = [Node(f"measured over {len(judged.measured.members)} answers, {len(judged.inside)} in the cluster")]
    if found.agreement is not None:
        lines.append(Node(f"agreement on yes or no {found.agreement:.6g}, {params.polarity_agreement:g} needed"))
    return Node(f"consensus {state}: μ + λσ = {sums}, above {params.consensus_threshold:g} needed", tuple(lines))
