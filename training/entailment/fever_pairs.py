"""Neutral pairs for FEVER claims, which come with evidence that always settles them.

Each claim gets a neighbour's evidence: the nearest text by shared rare words that belongs to other claims. Without such
pairs a model learns that long evidence is never neutral.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pairs import NEUTRAL, Pair

SOURCES = ("fever", "fever_sym")
WORD = re.compile(r"[^\W_]+")
COMMON = 0.02
NEAREST = 8
SETTLING_SHARE = 0.6

Bag = frozenset[str]


def words_of(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def weigh_words(bags: Sequence[Bag]) -> dict[str, float]:
    """Inverse document frequency; words in more than 2 % of the texts weigh nothing."""
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log(len(bags) / n) for word, n in counts.items() if n <= COMMON * len(bags)}


def covered_share(claim: Bag, evidence: Bag, weights: dict[str, float]) -> float:
    """How much of the claim's weight the evidence repeats, 0 to 1."""
    total = sum(weights.get(word, 0.0) for word in claim)
    return sum(weights.get(word, 0.0) for word in claim & evidence) / total if total else 1.0


def index_words(bags: Sequence[Bag], weights: dict[str, float]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, bag in enumerate(bags):
        for word in bag:
            if word in weights:
                index.setdefault(word, []).append(number)
    return index


def rank_neighbours(claim: Bag, index: dict[str, list[int]], weights: dict[str, float]) -> list[int]:
    """Evidence texts by the weight of the words they share with the claim, best first."""
    scores: Counter[int] = Counter()
    for word in sorted(claim):
        for number in index.get(word, ()):
            scores[number] += weights[word]  # type: ignore[assignment]
    return [number for number, _ in scores.most_common(NEAREST)]


def borrow_evidence(pairs: Sequence[Pair]) -> list[Pair]:
    """Each claim with its best neighbour's evidence, unless that text may settle the claim."""
    texts = list(dict.fromkeys(pair.premise for pair in pairs))
    bags = [frozenset(words_of(text)) for text in texts]
    weights = weigh_words(bags)
    index = index_words(bags, weights)
    own: dict[str, set[str]] = {}
    for pair in pairs:
        own.setdefault(pair.hypothesis, set()).add(pair.premise)
    made: list[Pair] = []
    for claim, evidence in own.items():
        bag = frozenset(words_of(claim))
        for number in rank_neighbours(bag, index, weights):
            if texts[number] not in evidence and is_unsettled(bag, bags[number], evidence, weights):
                made.append(Pair("fever_neutral", texts[number], claim, NEUTRAL))
                break
    return made


def is_unsettled(claim: Bag, candidate: Bag, evidence: Iterable[str], weights: dict[str, float]) -> bool:
    """The candidate repeats less than 60 % of the claim and is no near-copy of the evidence that settles it."""
    if covered_share(claim, candidate, weights) >= SETTLING_SHARE:
        return False
    return all(covered_share(frozenset(words_of(text)), candidate, weights) < SETTLING_SHARE for text in evidence)


def make_fever_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    settled = [pair for pair in pairs if pair.source in SOURCES]
    return borrow_evidence(settled)
