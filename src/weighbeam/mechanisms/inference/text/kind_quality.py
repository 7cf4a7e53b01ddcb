"""Is an answer worth comparing, by the rules of its kind? (spec § 18)

Four dimensions as in § 4, of which none grows with length alone, and a gate that names what an answer is instead: the
prompt again, words without an order, a collection of words, something else.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.numbers import round_significant
from weighbeam.core.quantise import MILLION
from weighbeam.core.stats import ramp
from weighbeam.mechanisms.inference.text.kinds import Kind
from weighbeam.mechanisms.inference.text.traits import TextTraits
from weighbeam.mechanisms.inference.tolerance import reaches

ON_TOPIC, SHORT_ON_TOPIC, NEAR_PROMPT = 0.2, 0.15, 0.35
FEW_WORDS, FEW_ON_TOPIC = 6, 0.05
MUCH_WORDS, MUCH_ON_TOPIC = 12, 0.35
VAGUE_FROM, VAGUE_STEMS, VAGUE_OWN = 10, 0.35, 8
SAID_MUCH, SHARED_LITTLE = 20, 2
ECHO_COVERED, ECHO_OWN = 0.8, 0.04
LITTLE, MUCH = 2, 12
"""Up to this many new words count as none if the median answer has that many."""
REPEATS_FROM, REPEATS = 30, 0.2
ORDER_FROM, ORDER_PER_PAIR, ORDER, ORDER_LISTED = 8, 70, 2000, -2000
GATHERED = ((12, 0.75), (5, 0.9))
"""From how many stems of the others on, and which share of them, an answer has gathered instead of answered."""
SPREAD = 1.5
"""Where others together say less than this times what one of them says, they agree, and so may one more."""
SWALLOWING = 2.5
"""An answer that swallows others says this many times as much as one of them."""
ROUND = 4
BAG_FROM, BAG_DISTINCT, BAG_ORDER = 200, 0.97, 600
SUBSTANCE = 10
"""New stems that make an answer to an open question complete."""
WEIGHTS = (0.1, 0.2, 0.2, 0.5)
BASE = 0.35
"""Value of the least answer that passes the gate: the threshold's default."""


@dataclass(frozen=True, slots=True)
class KindQuality:
    """Every number between an answer's traits and its quality."""

    words: int
    topic: float
    relevance: float
    density: float
    specificity: float
    coherence: float
    substance: float
    quality: float
    flagged: bool
    reasons: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reasons": list(self.reasons)}


@dataclass(frozen=True, slots=True)
class RoundTraits:
    """Of the whole round: the prompt's word triples, and how many different answers there are."""

    triples: int
    texts: int


def measure_topics(similarity: NDArray[np.float64], subject: NDArray[np.float64]) -> list[float]:
    """How near each answer is to the subject: by its larger cosine with the prompt or the prompt's last line, or with
    the typical answer that is near them."""
    on_topic = subject >= ON_TOPIC
    topics = []
    for number, own in enumerate(subject.tolist()):
        others = on_topic.copy()
        others[number] = False
        near = float(np.median(similarity[number, others])) if others.sum() >= 2 else own
        topics.append(max(own, near))
    return topics


def judge_texts_by_kind(
    traits: Sequence[TextTraits],
    words: Sequence[int],
    task: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    threshold: float,
) -> list[KindQuality]:
    """The quality of each different text of a recorded round."""
    to_prompt = arrays["prompt_cosines"] / MILLION
    subject = np.maximum(to_prompt, arrays["last_line_cosines"] / MILLION)
    topics = measure_topics(arrays["similarity"] / MILLION, subject)
    round_of = RoundTraits(task["triples"], sum(own.tokens > 0 for own in traits))
    return [
        judge_kind(own, count, near, topic, task["asks"], round_of, threshold)
        for own, count, near, topic in zip(traits, words, to_prompt.tolist(), topics, strict=True)
    ]


def judge_kind(
    traits: TextTraits, words: int, to_prompt: float, topic: float, kind: Kind, round_of: RoundTraits, threshold: float
) -> KindQuality:
    """The quality of one answer: none if the gate stops it, else from the base on; below the threshold it is thin."""
    reason = _find_reason(traits, words, to_prompt, topic, kind, round_of)
    parts = _rate(traits, words, to_prompt, kind)
    richness = math.fsum(weight * part for weight, part in zip(WEIGHTS, parts, strict=True))
    substance = min(1.0, traits.own / SUBSTANCE) if kind == "open" else 1.0
    quality = 0.0 if reason else round_significant(BASE + (1 - BASE) * richness * substance)
    if reason is None and not reaches(quality, threshold):
        reason = "thin"
    return KindQuality(words, topic, *parts, substance, quality, reason is not None, (reason,) if reason else ())


def _find_reason(
    traits: TextTraits, words: int, to_prompt: float, topic: float, kind: Kind, round_of: RoundTraits
) -> str | None:
    if not words:
        return "empty"
    if traits.echo or _is_echo(traits, kind, round_of):
        return "echo"
    if words >= REPEATS_FROM and traits.distinct_triples < REPEATS * traits.triples:
        return "not_prose"
    if traits.ordered and (_is_shuffled(traits) or _is_bag(traits)):
        return "not_prose"
    if _has_gathered(traits, kind, round_of.texts):
        return "gathers"
    if _is_off_topic(traits, words, topic, kind):
        return "off_topic"
    return "thin" if _is_thin(traits, words, to_prompt, kind) else None


def _is_thin(traits: TextTraits, words: int, to_prompt: float, kind: Kind) -> bool:
    """Nothing of its own and not near the prompt either; or many small words and next to none of what others say, who
    say much."""
    if kind == "short" and traits.abstains:
        return False
    if not traits.own and words >= FEW_WORDS and to_prompt < NEAR_PROMPT and kind != "number":
        return True
    vague = words >= VAGUE_FROM and traits.stems <= VAGUE_STEMS * words and traits.own <= VAGUE_OWN
    return kind == "open" and vague and traits.others >= SAID_MUCH and traits.gathered <= SHARED_LITTLE


def _is_off_topic(traits: TextTraits, words: int, topic: float, kind: Kind) -> bool:
    """Far from the prompt and from the answers that are near it. A word or two may be far and right, if another answer
    has one of them too; much talk beside a short question that shares nothing with any other answer is not. To say that
    one does not know a short answer is off no subject."""
    if kind == "short" and traits.abstains:
        return False
    if words < FEW_WORDS:
        return topic < (FEW_ON_TOPIC if kind in ("short", "number") else ON_TOPIC) and not traits.met
    if kind == "short" and words >= MUCH_WORDS and not traits.met:
        return topic < MUCH_ON_TOPIC
    return topic < (SHORT_ON_TOPIC if kind == "short" else ON_TOPIC)


def _is_echo(traits: TextTraits, kind: Kind, round_of: RoundTraits) -> bool:
    """Whether a text repeats most of the prompt and adds almost nothing. Code may repeat its task."""
    covered = bool(round_of.triples) and traits.covered >= ECHO_COVERED * round_of.triples
    if not covered or (kind == "code" and traits.code):
        return False
    return traits.own <= ECHO_OWN * traits.stems or _adds_little(traits, kind, round_of.texts)


def _adds_little(traits: TextTraits, kind: Kind, texts: int) -> bool:
    """A word or two that few others say, where others say much. Where answers stand in the prompt, all say little."""
    alone = 2 * traits.met < texts - 1
    return kind == "open" and traits.own <= LITTLE and alone and traits.typical >= MUCH


def _is_shuffled(traits: TextTraits) -> bool:
    least = ORDER_LISTED if traits.listed else min(ORDER, ORDER_PER_PAIR * traits.pairs)
    return traits.pairs >= ORDER_FROM and traits.order < least


def _is_bag(traits: TextTraits) -> bool:
    """Hundreds of words, next to none of them twice, in little order."""
    distinct = traits.distinct_tokens >= BAG_DISTINCT * traits.tokens
    return traits.tokens >= BAG_FROM and distinct and traits.order < BAG_ORDER * math.sqrt(traits.pairs)


def _has_gathered(traits: TextTraits, kind: Kind, texts: int) -> bool:
    """Nearly all that the others say together, or that half of them say each: nobody writes that, but anybody could put
    it together. Programs for one task share their names, but no program has each of its words once."""
    if texts < ROUND or (kind == "code" and traits.distinct_tokens < BAG_DISTINCT * traits.tokens):
        return False
    share = next((share for least, share in GATHERED if traits.others >= least), None)
    spread = traits.others >= SPREAD * traits.typical
    whole = spread and share is not None and traits.gathered >= share * traits.others
    return whole or (traits.own >= SWALLOWING * traits.typical and 2 * traits.swallowed >= texts - 1)


def _rate(traits: TextTraits, words: int, to_prompt: float, kind: Kind) -> tuple[float, float, float, float]:
    """Relevance, density, specificity, coherence: even where a kind of question does not ask for them."""
    if not words:
        return 0.0, 0.0, 0.0, 0.0
    fit = traits.fit / 1000
    varied = traits.distinct_triples / traits.triples if traits.triples else 1.0
    coherence = ramp(varied, 0.5, 1.0) * (0.5 + 0.5 * ramp(fit, -0.3, 0.9))
    relevance = ramp(to_prompt, 0.1, 0.6)
    if kind == "short":
        return 0.5, 0.7, 0.5, 0.5 * ramp(fit, -0.3, 1.3) + 0.5 * ramp(traits.glue / words, 0.1, 0.6)
    if kind == "number":
        return relevance, 0.7, 0.5, coherence
    if kind == "code":
        return relevance, 1.0, 0.5, 0.7
    return relevance, 1 - math.exp(-traits.fresh / 20), 1 - math.exp(-traits.marks / 8), coherence


def list_parts(quality: KindQuality) -> Sequence[tuple[str, float, float]]:
    """Name, weight and value of each dimension."""
    names = ("relevance", "density", "specificity", "coherence")
    return [(name, weight, float(getattr(quality, name))) for name, weight in zip(names, WEIGHTS, strict=True)]
