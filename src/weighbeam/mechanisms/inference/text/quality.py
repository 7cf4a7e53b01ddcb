"""Is an answer worth comparing? Four dimensions and a gate, each answer for itself (spec § 4)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.core.language import TextMakeup, judge_language
from weighbeam.core.numbers import round_significant
from weighbeam.core.stats import ramp
from weighbeam.mechanisms.inference.text.counts import TextCounts
from weighbeam.mechanisms.inference.tolerance import reaches

SHORT_ANSWER = 12
SINGLE_SENTENCE_FLOW = 0.6


@dataclass(frozen=True, slots=True)
class Cosines:
    """Cosines of one answer: to the prompt, each sentence to the prompt, each sentence to the next."""

    prompt: float
    sentences: Sequence[float]
    neighbours: Sequence[float]


@dataclass(frozen=True, slots=True)
class Quality:
    """Every number between an answer and its quality, in the order they follow from each other."""

    words: int
    sentences: int
    fresh: int
    fresh_share: float
    echo_share: float
    content_share: float
    glue_share: float
    marks: int
    closeness: float
    on_topic: float
    own_words: float
    flow: float
    glue: float
    variety: float
    distinct: float
    language: float
    relevance: float
    density: float
    specificity: float
    coherence: float
    gate: float
    quality: float
    flagged: bool
    reasons: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The stage's output; a text without words has only what can be said of it."""
        rows = {**asdict(self), "reasons": list(self.reasons)}
        if self.words:
            return rows
        return {name: rows[name] for name in EMPTY_KEYS}


EMPTY_KEYS = (
    "words sentences fresh marks relevance density specificity coherence quality flagged reasons".split()
)  # fmt: skip


def judge_quality(counts: TextCounts, cosines: Cosines, prose: bool, threshold: float) -> Quality:
    """The quality of one answer, and why it is flagged if it is."""
    n = counts.words
    if not n:
        return WORDLESS
    shares = {
        "fresh_share": counts.fresh / counts.stems if counts.stems else 0.0,
        "echo_share": counts.echoed / counts.triples if n >= SHORT_ANSWER else 0.0,
        "content_share": counts.content / n,
        "glue_share": counts.function / n,
    }
    closeness = 0.5 * cosines.prompt + 0.5 * _mean_upper_half(cosines.sentences)
    on_topic = ramp(closeness, 0.05, 0.85)
    own_words = ramp(shares["fresh_share"], 0.05, 0.45) * (1 - ramp(shares["echo_share"], 0.2, 0.5))
    flow = _flow(cosines.neighbours, prose)
    made = TextMakeup(n, counts.distinct_words, counts.function, counts.sentences, counts.distinct_sentences)
    read = judge_language(made, prose)
    language = read.score
    relevance = on_topic * own_words
    density = (1 - math.exp(-counts.fresh / 20)) * min(1.0, shares["content_share"] / 0.35)
    specificity = 1 - math.exp(-counts.marks / 8)
    coherence = flow * language
    gate = min(1.0, relevance / 0.2) * min(1.0, language / 0.3)
    richness = 0.4 * relevance + 0.2 * density + 0.2 * specificity + 0.2 * coherence
    quality = round_significant(richness * gate)
    flagged = not reaches(quality, threshold)
    return Quality(
        words=n,
        sentences=counts.sentences,
        fresh=counts.fresh,
        **shares,
        marks=counts.marks,
        closeness=closeness,
        on_topic=on_topic,
        own_words=own_words,
        flow=flow,
        glue=read.glue,
        variety=read.variety,
        distinct=read.distinct,
        language=language,
        relevance=relevance,
        density=density,
        specificity=specificity,
        coherence=coherence,
        gate=gate,
        quality=quality,
        flagged=flagged,
        reasons=_name_reasons(on_topic, own_words, language) if flagged else (),
    )


WORDLESS = Quality(
    words=0,
    sentences=0,
    fresh=0,
    fresh_share=0.0,
    echo_share=0.0,
    content_share=0.0,
    glue_share=0.0,
    marks=0,
    closeness=0.0,
    on_topic=0.0,
    own_words=0.0,
    flow=0.0,
    glue=0.0,
    variety=0.0,
    distinct=0.0,
    language=0.0,
    relevance=0.0,
    density=0.0,
    specificity=0.0,
    coherence=0.0,
    gate=0.0,
    quality=0.0,
    flagged=True,
    reasons=("empty",),
)


def _mean_upper_half(cosines: Sequence[float]) -> float:
    """The mean of the larger half, rounded up."""
    half = sorted(cosines, reverse=True)[: (len(cosines) + 1) // 2]
    return math.fsum(half) / len(half)


def _flow(neighbours: Sequence[float], prose: bool) -> float:
    if not neighbours:
        return SINGLE_SENTENCE_FLOW
    flow = 0.3 + 0.7 * ramp(math.fsum(neighbours) / len(neighbours), 0.0, 0.7)
    return flow if prose else max(flow, SINGLE_SENTENCE_FLOW)


def _name_reasons(on_topic: float, own_words: float, language: float) -> tuple[str, ...]:
    limits = (("off_topic", on_topic, 0.2), ("echo", own_words, 0.5), ("not_prose", language, 0.3))
    return tuple(name for name, value, least in limits if not reaches(value, least)) or ("thin",)
