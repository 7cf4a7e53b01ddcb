"""Pairs where only a negation differs, made by rule, with as many negated sentences that are entailed or open.

Without the latter a model learns that "not" alone means contradiction.
"""

import random
import re
from collections.abc import Iterable, Sequence

from pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair

AUXILIARY = re.compile(r"\b(is|are|was|were|has been|have been|can|could|will|would|should|must)\b(?! not\b|n't)")
NEGATED = re.compile(
    r"\b(?:not?|never|nobody|nothing|none|neither|nor|without|hardly|barely|few|little)\b|n't", re.IGNORECASE
)
FORMS = ("not", "not", "not", "never")
SINGLE_SOURCES = ("conjnli", "fever", "mnli", "mnli2")
MOST_WORDS = 30
KEPT = 1_500


def negate(text: str, chance: random.Random) -> str | None:
    """The sentence with its only auxiliary negated; none where that would not negate the whole.

    >>> negate("The bridge was closed in May.", random.Random(1))
    'The bridge was not closed in May.'
    """
    found = list(AUXILIARY.finditer(text))
    if len(found) != 1 or NEGATED.search(text) or "," in text or "?" in text or len(text.split()) > MOST_WORDS:
        return None
    if re.search(r"\b(?:and|or|but|because|some|all|every|any|only|who|which|that)\b", text):
        return None
    end = found[0].end()
    word = chance.choice(FORMS) if found[0].group() in ("was", "were", "has been", "have been") else "not"
    if found[0].group().endswith(" been"):
        end = found[0].start() + len(found[0].group().split()[0])
    return f"{text[:end]} {word}{text[end:]}"


def negate_hypotheses(pairs: Iterable[Pair], chance: random.Random) -> list[Pair]:
    """An entailed hypothesis, negated, is contradicted; an open one stays open."""
    made: list[Pair] = []
    for pair in pairs:
        if pair.label == CONTRADICTION or (changed := negate(pair.hypothesis, chance)) is None:
            continue
        label = CONTRADICTION if pair.label == ENTAILMENT else NEUTRAL
        made.append(Pair("rule_negation", pair.premise, changed, label))
    return made


def negate_sentences(sentences: Sequence[str], chance: random.Random) -> list[Pair]:
    """A sentence against its negation, both ways round, and the negation against itself."""
    made: list[Pair] = []
    for sentence in sentences:
        if (changed := negate(sentence, chance)) is None:
            continue
        made.append(
            chance.choice(
                (
                    Pair("rule_negation", sentence, changed, CONTRADICTION),
                    Pair("rule_negation", changed, sentence, CONTRADICTION),
                    Pair("rule_negation", changed, changed, ENTAILMENT),
                    Pair("rule_negation", changed, changed, ENTAILMENT),
                )
            )
        )
    return made


def make_negation_pairs(pairs: Sequence[Pair], chance: random.Random) -> list[Pair]:
    usable = [pair for pair in pairs if pair.source in SINGLE_SOURCES]
    by_label = {
        label: negate_hypotheses((pair for pair in usable if pair.label == label), chance)
        for label in (NEUTRAL, ENTAILMENT)
    }
    singles = negate_sentences(list(dict.fromkeys(pair.premise for pair in usable)), chance)
    return [pair for made in (*by_label.values(), singles) for pair in chance.sample(made, min(KEPT, len(made)))]
