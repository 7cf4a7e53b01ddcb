"""The facts that a contribution is paid by, and the pure rule that makes a similarity and units of them, in integers.

cosine of the nearest → second look at each text that was compared → the embedder's scale → the curve
→ what is new in it, sentence by sentence and run by run → one cap for what belongs together
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from fractions import Fraction
from math import floor
from typing import Any

from weighbeam.core.canonical import digest_json
from weighbeam.core.quantise import MILLION
from weighbeam.core.stats import parse_decimal
from weighbeam.mechanisms.novelty.compare import ComparedTexts
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import reward_units
from weighbeam.mechanisms.novelty.scale import CAP, DIGITS, Scale, parse_scale

LEXICAL_FROM, LEXICAL_FULL = 7, 12
"""Words of the shorter text: fewer tell nothing by their order, more tell all they can."""
LEXICAL_SHARE = Fraction(3, 10)
LEXICAL_BASE, WORD_WEIGHT, LETTER_WEIGHT = Fraction(35, 100), Fraction(35, 100), Fraction(50, 100)
ALIKE = Fraction(3, 10)
NUMBERS_FALL = 200_000
SAME_WORDS = Fraction(8, 10)
SPELT_FROM, SPELT_FULL, SPELT_MORE = Fraction(78, 100), Fraction(88, 100), Fraction(2, 10)
"""Letters in the same order, and by how much they exceed words: another spelling of the same text."""
SPELT_SURE, SPELT_LITTLE = Fraction(95, 100), Fraction(1, 10)
"""The excess that suffices where nearly all letters are in order."""
MIN_SPELT = 12
KNOWN_FROM, KNOWN_FULL = Fraction(1, 2), Fraction(95, 100)
"""Half of an honest text may be runs that others have used; of what is known to 95 % nothing is new."""
CONTAINED = Fraction(6, 10)
"""A known text with a smaller share of the words is a part of a new one of several sentences: these decide."""
PAID_FOR_FACT = 800_000
"""The similarity that pays 10 tokens by the seed's numbers: the most for a different fact in the same words."""
KIN_RISE = Fraction(1, 10)
EXTREMES = ((0, 0), (MILLION, MILLION))
FOLLOW, APART = 1_000_000, 150_000
"""Entailment of both directions together: above the first, each text follows from the other; below the second, neither
follows."""
FOLLOW_MORE, APART_LESS = 70_000, 80_000
"""How far the similarity moves then."""


@dataclass(frozen=True, slots=True)
class Look:
    """A known contribution that was looked at: how near, and what its text has in common; None if it was withdrawn."""

    id: str
    micro: int
    compared: ComparedTexts | None

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "micro": self.micro, "compared": self.compared and self.compared.as_json()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Look":
        compared = given["compared"]
        return cls(given["id"], given["micro"], None if compared is None else ComparedTexts.from_json(compared))


@dataclass(frozen=True, slots=True)
class Kin:
    """An earlier contribution of the same contributor: how near, and what it and its own kin were paid."""

    id: str
    micro: int
    charged: int


@dataclass(frozen=True, slots=True)
class NoveltyFacts:
    """`rows` it was compared with; `looks` at the nearest and at those it shares runs with; `sentences` as (words,
    highest cosine), none if it is one sentence; of its `letters` those `known` in runs; `own` contributions of the same
    contributor in the window, and the nearest of them as `kin`; `entailed` is how far the new text follows from the
    first of `looks`, and that from the new one, None if nobody was asked."""

    rows: int
    looks: tuple[Look, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    letters: int = 0
    known: int = 0
    own: int = 0
    kin: tuple[Kin, ...] = field(default=())
    entailed: tuple[int, int] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "looks": [look.as_json() for look in self.looks],
            "sentences": [list(one) for one in self.sentences],
            "letters": self.letters,
            "known": self.known,
            "own": self.own,
            "kin": [[one.id, one.micro, one.charged] for one in self.kin],
            **({} if self.entailed is None else {"entailed": list(self.entailed)}),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "NoveltyFacts":
        return cls(
            given["rows"],
            tuple(Look.from_json(one) for one in given["looks"]),
            tuple((words, micro) for words, micro in given["sentences"]),
            given["letters"],
            given["known"],
            given["own"],
            tuple(Kin(*one) for one in given["kin"]),
            None if given.get("entailed") is None else _parse_both(*given["entailed"]),
        )

    @property
    def digest(self) -> str:
        return digest_json(self.as_json())


@dataclass(frozen=True, slots=True)
class Valuation:
    """The similarity that the curve reads, the share that is new in millionths, what that pays, and what the
    contribution counts for when its contributor says more of the same."""

    similarity: int
    new: int
    units: int
    charged: int
    exchanged: bool = False


def value_contribution(micro: int, facts: NoveltyFacts | None, params: NoveltyParams) -> Valuation:
    """Value of a contribution; without facts the cosine alone decides, as in the seed."""
    if facts is None:
        units = reward_units(micro, params)
        return Valuation(micro, MILLION, units, units)
    scale = parse_scale(params.scale)
    seen, exchanged = _look_twice(micro, facts, scale, params.entailment) if params.second_look else (micro, False)
    similarity = seen if scale is None else scale.read(seen, facts.rows)
    new = _find_new(facts, exchanged) if params.parts else Fraction(1)
    units = reward_units(similarity, params)
    if params.parts and facts.sentences:
        units = min(units, _pay_sentences(facts, scale, params))
    units = round(units * new)
    limit = round(parse_decimal(params.max_reward) * params.base_units)
    spent = max((one.charged for one in facts.kin if one.micro >= find_kin_cut(facts.own, params)), default=0)
    paid = min(units, max(0, limit - spent))
    return Valuation(similarity, round(new * MILLION), paid, spent + paid, exchanged)


def find_kin_cut(own: int, params: NoveltyParams) -> int:
    """How near two contributions of one contributor must be to share one cap: nearer the more there are.

    >>> [find_kin_cut(own, NoveltyParams(kin_similarity=0.15)) for own in (1, 10, 100)]
    [150000, 250000, 350000]
    """
    return round((parse_decimal(params.kin_similarity) + KIN_RISE * _log10(max(1, own))) * MILLION)


def _log10(number: int) -> Fraction:
    return Fraction(Context(prec=DIGITS).log10(Decimal(number)))


def _look_twice(micro: int, facts: NoveltyFacts, scale: Scale | None, asked: bool) -> tuple[int, bool]:
    """The similarity after the second look, and whether it was an exchange of words that decided."""
    fact_limit = _find_fact_limit(facts.rows, scale)
    same = sum(_share_content(look) >= SAME_WORDS for look in facts.looks)
    best, decided = -MILLION, False
    for place, look in enumerate(facts.looks):
        seen, exchanged = look.micro, False
        if look.compared is not None:
            seen = _compare_order(look.micro, look.compared)
            if _differ_in_numbers(look):
                seen = max(min(seen, fact_limit), seen - NUMBERS_FALL)
            seen += find_move(facts) if asked and place == 0 else 0
            exchanged = look.compared.exchanged and _share_content(look) >= SAME_WORDS
            exchanged = exchanged and same == 1 and not facts.sentences
            seen = min(seen, fact_limit) if exchanged else max(seen, _read_spelling(look.compared, facts.rows, scale))
            if facts.sentences and look.compared.known_words < CONTAINED * look.compared.words:
                seen = min(seen, CAP if scale is None else scale.find_cut(facts.rows))
        if seen > best:
            best, decided = seen, exchanged
    return (best, decided) if facts.looks else (micro, False)


def find_move(facts: NoveltyFacts) -> int:
    """How much more or less alike two texts are for what follows from what."""
    both = FOLLOW if facts.entailed is None else sum(facts.entailed)
    return FOLLOW_MORE if both > FOLLOW else -APART_LESS if both < APART else 0


def is_undecided(micro: int, facts: NoveltyFacts, params: NoveltyParams) -> bool:
    """Whether entailment could move what is paid across 10 tokens; nobody is asked where it could not."""
    if not params.wants_entailment or not facts.looks or facts.looks[0].compared is None:
        return False
    scale = parse_scale(params.scale)
    limit, (seen, _) = _find_fact_limit(facts.rows, scale), _look_twice(micro, facts, scale, False)
    if not limit - FOLLOW_MORE <= seen <= limit + APART_LESS:
        return False
    each = {value_contribution(micro, replace(facts, entailed=both), params).units for both in EXTREMES}
    return len(each) > 1


def _find_fact_limit(rows: int, scale: Scale | None) -> int:
    """The cosine that reads as 0.80."""
    return PAID_FOR_FACT if scale is None else scale.find_cut(rows) + floor((PAID_FOR_FACT - CAP) / scale.slope)


def _compare_order(micro: int, compared: ComparedTexts) -> int:
    """The cosine, moved towards what the order of words and letters says; the longer the texts, the more."""
    shorter = min(compared.words, compared.known_words)
    length = Fraction(max(0, min(LEXICAL_FULL, shorter) - LEXICAL_FROM), LEXICAL_FULL - LEXICAL_FROM)
    lexical = LEXICAL_BASE + WORD_WEIGHT * share_words(compared) + LETTER_WEIGHT * share_letters(compared)
    return round(micro + LEXICAL_SHARE * length * (min(Fraction(1), lexical) * MILLION - micro))


def _read_spelling(compared: ComparedTexts, rows: int, scale: Scale | None) -> int:
    """The similarity of what has the same letters in the same order, however they are spelt, spaced or cut up."""
    if min(compared.letters, compared.known_letters) < MIN_SPELT:
        return -MILLION
    share = share_letters(compared)
    if share < SPELT_FROM or share - share_words(compared) < (SPELT_LITTLE if share >= SPELT_SURE else SPELT_MORE):
        return -MILLION
    start, end = (CAP, MILLION) if scale is None else (scale.find_cut(rows), MILLION)
    return round(start + min(Fraction(1), (share - SPELT_FROM) / (SPELT_FULL - SPELT_FROM)) * (end - start))


def share_words(compared: ComparedTexts) -> Fraction:
    return Fraction(2 * compared.words_in_order, max(1, compared.words + compared.known_words))


def share_letters(compared: ComparedTexts) -> Fraction:
    return Fraction(2 * compared.letters_in_order, max(1, compared.letters + compared.known_letters))


def _share_content(look: Look) -> Fraction:
    return Fraction(0) if look.compared is None else Fraction(look.compared.content, max(1, look.compared.all_content))


def _differ_in_numbers(look: Look) -> bool:
    both = look.compared is not None and look.compared.numbers and look.compared.known_numbers
    return bool(both) and _share_content(look) > ALIKE


def _find_new(facts: NoveltyFacts, exchanged: bool) -> Fraction:
    """The share of a text that no known run covers; one whose words changed places is made of known runs."""
    if exchanged or not facts.letters:
        return Fraction(1)
    known = Fraction(facts.known, facts.letters)
    return max(Fraction(0), min(Fraction(1), (KNOWN_FULL - known) / (KNOWN_FULL - KNOWN_FROM)))


def _pay_sentences(facts: NoveltyFacts, scale: Scale | None, params: NoveltyParams) -> int:
    """Each sentence by its own nearest, by its share of the words."""
    words = max(1, sum(count for count, _ in facts.sentences))
    each = (count * reward_units(_read(micro, facts, scale), params) for count, micro in facts.sentences)
    return round(Fraction(sum(each), words))


def _read(micro: int, facts: NoveltyFacts, scale: Scale | None) -> int:
    return micro if scale is None else scale.read(micro, facts.rows)


def _parse_both(new: int, known: int) -> tuple[int, int]:
    return int(new), int(known)


def parse_facts(given: Any) -> NoveltyFacts | None:
    return None if given is None else NoveltyFacts.from_json(given)
