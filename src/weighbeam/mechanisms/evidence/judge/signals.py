"""The seven context signals by rule and word list (spec § 12): offline, deterministic, and never part of a score."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from weighbeam.core.canonical import digest_text
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.excerpt.forms import classify_form, parse_forms
from weighbeam.mechanisms.evidence.excerpt.text import clean_text, split_sentences
from weighbeam.mechanisms.evidence.excerpt.tokens import find_tokens
from weighbeam.mechanisms.evidence.judge.nli import Stance

DECIMALS = 6
RANGES = {
    "sentiment": (-1.0, 1.0),
    "conviction": (0.0, 1.0),
    "source_credibility": (0.0, 1.0),
    "narrative_momentum": (0.0, 1.0),
    "risk_reward": (0.0, 1.0),
    "catalyst": (0.0, 1.0),
    "political_leaning": (-1.0, 1.0),
}


def fit_signal(name: str, value: object) -> float | None:
    """Clip a signal to its range, in millionths; None if it is not a number.

    >>> fit_signal("conviction", 1e9), fit_signal("sentiment", -0.12345678), fit_signal("catalyst", "much")
    (1.0, -0.123457, None)
    """
    if not is_number(value):
        return None
    least, limit = RANGES[name]
    return round(min(limit, max(least, float(value))), DECIMALS) + 0.0


Terms = dict[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, slots=True)
class SignalWords:
    """Terms by their first form, longest first, and which version of the file they are from."""

    version: int
    digest: str
    boosters: Terms
    hedges: Terms
    gains: Terms
    losses: Terms
    events: Terms
    left: Terms
    right: Terms


@cache
def load_signal_words() -> SignalWords:
    text = (files("weighbeam.mechanisms.evidence") / "word_lists" / "signal_words.json").read_text("utf-8")
    data = json.loads(text)
    lists = {name: _index_terms(terms) for name, terms in data.items() if isinstance(terms, list)}
    return SignalWords(version=data["version"], digest=digest_text(text), **lists)


def count_terms(forms: Sequence[str], terms: Terms) -> int:
    """How often a term occurs; where two begin at one place, only the longer one.

    >>> terms = {"no": (("no", "doubt"),), "doubt": (("doubt",),)}
    >>> count_terms(["no", "doubt", "is", "no", "good"], terms)
    1
    """
    count = place = 0
    while place < len(forms):
        here = terms.get(forms[place], ())
        size = next((len(term) for term in here if tuple(forms[place : place + len(term)]) == term), 0)
        count += size > 0
        place += max(1, size)
    return count


def _index_terms(terms: Sequence[str]) -> Terms:
    index: dict[str, list[tuple[str, ...]]] = {}
    for term in sorted((tuple(parse_forms(term)) for term in terms), key=len, reverse=True):
        index.setdefault(term[0], []).append(term)
    return {first: tuple(found) for first, found in index.items()}


FRESH_DAYS = 7
YOUNG_DAYS = 365
MIN_HITS = 2
PUBLIC = frozenset({"gov", "mil", "edu", "int"})
PUBLIC_OF_COUNTRY = frozenset({"gov", "ac", "edu"})


@dataclass(frozen=True, slots=True)
class SignalSource:
    """Source of a snippet. `age_days` is None if unknown."""

    domain: str
    site: str
    approved: bool = False
    user_content: bool = False
    age_days: float | None = None


@dataclass(frozen=True, slots=True)
class SignalPassage:
    """An accepted snippet in its sentence, with VADER's compound and the days from the page's date to the task."""

    statement: str
    context: str
    stance: Stance
    sentiment: float | None = None
    days_before_task: float | None = None


@dataclass(frozen=True, slots=True)
class OtherSnippet:
    """Another accepted snippet of the round."""

    domain: str
    stance: Stance


def measure_signals(
    passage: SignalPassage, source: SignalSource, others: Sequence[OtherSnippet], words: SignalWords
) -> dict[str, float | None]:
    """All seven, each within its range; None where there is no number."""
    forms = parse_forms(passage.context)
    measured = {
        "sentiment": passage.sentiment,
        "conviction": 0.5 + 0.15 * (count_terms(forms, words.boosters) - count_terms(forms, words.hedges)),
        "source_credibility": rate_source(source),
        "narrative_momentum": measure_momentum(passage.stance, source.domain, others),
        "risk_reward": _weigh_reward(count_terms(forms, words.gains), count_terms(forms, words.losses)),
        "catalyst": _detect_catalyst(passage, forms, words),
        "political_leaning": _lean(count_terms(forms, words.left), count_terms(forms, words.right)),
    }
    return {name: fit_signal(name, measured[name]) for name in RANGES}


def rate_source(source: SignalSource) -> float:
    """How far a source may be believed before it is read; the first rule that applies.

    >>> [rate_source(SignalSource(name, name)) for name in ("nasa.gov", "ox.ac.uk", "gov.tk", "example.com")]
    [0.75, 0.75, 0.5, 0.5]
    """
    if source.user_content or source.site.casefold() != source.domain.casefold():
        return 0.3
    if is_number(source.age_days) and source.age_days < YOUNG_DAYS:
        return 0.2
    if source.approved:
        return 0.9
    return 0.75 if _is_public(source.domain) else 0.5


def measure_momentum(stance: Stance, domain: str, others: Sequence[OtherSnippet]) -> float:
    """The share of the round's evidence from elsewhere that takes the same side; one half if there is none.

    >>> measure_momentum("neutral", "a.com", [OtherSnippet("A.com", "neutral"), OtherSnippet("b.com", "supports")])
    0.0
    """
    elsewhere = [other for other in others if other.domain.casefold() != domain.casefold()]
    return sum(other.stance == stance for other in elsewhere) / len(elsewhere) if elsewhere else 0.5


def find_names(text: str) -> list[str]:
    """Forms of words written with a capital inside a sentence: a crude notion of a name.

    >>> find_names("Yesterday the Apollo crew met I. Newton. Then they left.")
    ['apollo']
    """
    clean = clean_text(text)
    found = []
    for start, end in split_sentences(clean):
        sentence = clean[start:end]
        for first, last in find_tokens(sentence)[1:]:
            token = sentence[first:last]
            if len(token) > 1 and token[0].isupper():
                found += parse_forms(token)
    return found


def _is_public(domain: str) -> bool:
    """Under a public top level, or a country's; `gov.tk` itself is nobody's suffix if it is a registered domain."""
    labels = domain.casefold().split(".")
    national = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in PUBLIC_OF_COUNTRY
    return len(labels) > 1 and (labels[-1] in PUBLIC or national)


def _weigh_reward(gains: int, losses: int) -> float:
    return (1 + gains) / (2 + gains + losses)


def _detect_catalyst(passage: SignalPassage, forms: Sequence[str], words: SignalWords) -> float:
    days = passage.days_before_task
    fresh = is_number(days) and 0 <= days <= FRESH_DAYS
    event = count_terms(forms, words.events) > 0
    details = {form for form in forms if classify_form(form) == "number"} | set(find_names(passage.context))
    added = bool(details - set(parse_forms(passage.statement)))
    return 0.4 * fresh + 0.3 * event + 0.3 * added


def _lean(left: int, right: int) -> float:
    return (right - left) / (right + left) if right + left >= MIN_HITS else 0.0
