"""The seven context signals by rule and word list (spec § 12): offline, deterministic, and never part of a score."""

from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.forms import read_forms, tell_kind
from weighbeam.mechanisms.evidence.nli import Stance
from weighbeam.mechanisms.evidence.sentences import split_sentences
from weighbeam.mechanisms.evidence.signal_ranges import RANGES, fit_signal
from weighbeam.mechanisms.evidence.signal_words import SignalWords, count_terms
from weighbeam.mechanisms.evidence.tokens import find_tokens

FRESH_DAYS = 7
YOUNG_DAYS = 365
LEAST_HITS = 2
PUBLIC = frozenset({"gov", "mil", "edu", "int"})
PUBLIC_OF_COUNTRY = frozenset({"gov", "ac", "edu"})


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of where a snippet stands. `age_days` is None if unknown."""

    domain: str
    site: str
    approved: bool = False
    user_content: bool = False
    age_days: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """An accepted snippet in its sentence, with VADER's compound and the days from the page's date to the task."""

    statement: str
    context: str
    stance: Stance
    sentiment: float | None = None
    days_before_task: float | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """Another accepted snippet of the round."""

    domain: str
    stance: Stance


def measure_signals(
    passage: Passage, source: Source, others: Sequence[Other], words: SignalWords
) -> dict[str, float | None]:
    """All seven, each within its range; None where there is no number."""
    forms = read_forms(passage.context)
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


def rate_source(source: Source) -> float:
    """How far a source may be believed before it is read; the first rule that applies.

    >>> [rate_source(Source(name, name)) for name in ("nasa.gov", "ox.ac.uk", "gov.tk", "example.com")]
    [0.75, 0.75, 0.5, 0.5]
    """
    if source.user_content or source.site.casefold() != source.domain.casefold():
        return 0.3
    if is_number(source.age_days) and source.age_days < YOUNG_DAYS:
        return 0.2
    if source.approved:
        return 0.9
    return 0.75 if _is_public(source.domain) else 0.5


def measure_momentum(stance: Stance, domain: str, others: Sequence[Other]) -> float:
    """The share of the round's evidence from elsewhere that takes the same side; one half if there is none.

    >>> measure_momentum("neutral", "a.com", [Other("A.com", "neutral"), Other("b.com", "supports")])
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
                found += read_forms(token)
    return found


def _is_public(domain: str) -> bool:
    """Under a public top level, or a country's; `gov.tk` itself is nobody's suffix if it is a registered domain."""
    labels = domain.casefold().split(".")
    national = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in PUBLIC_OF_COUNTRY
    return len(labels) > 1 and (labels[-1] in PUBLIC or national)


def _weigh_reward(gains: int, losses: int) -> float:
    return (1 + gains) / (2 + gains + losses)


def _detect_catalyst(passage: Passage, forms: Sequence[str], words: SignalWords) -> float:
    days = passage.days_before_task
    fresh = is_number(days) and 0 <= days <= FRESH_DAYS
    event = count_terms(forms, words.events) > 0
    details = {form for form in forms if tell_kind(form) == "number"} | set(find_names(passage.context))
    added = bool(details - set(read_forms(passage.statement)))
    return 0.4 * fresh + 0.3 * event + 0.3 * added


def _lean(left: int, right: int) -> float:
    return (right - left) / (right + left) if right + left >= LEAST_HITS else 0.0
