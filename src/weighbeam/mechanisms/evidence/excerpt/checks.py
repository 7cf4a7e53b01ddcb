"""Checks 6 and 7 (spec § 6): whether an excerpt is valid, and whether it says more than the statement."""

import unicodedata
from bisect import bisect_right
from functools import lru_cache

from weighbeam.core.text import has_lone_surrogate
from weighbeam.mechanisms.evidence.excerpt.forms import find_runs, has_letter, parse_forms, parse_words
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
from weighbeam.mechanisms.evidence.excerpt.text import clean_text, split_sentences
from weighbeam.mechanisms.evidence.excerpt.tokens import is_spaceless

MAX_CHARACTERS = 1_000
MAX_WORDS = 200
MIN_DISTINCT = 3
KEPT = 1024
"""Number of excerpts whose result is cached: the same ones recur when observing, scoring, explaining, replaying."""
ALLOWED_CONTROLS = "\t\n\r"
REPLACEMENT = "\ufffd"


def is_valid_excerpt(excerpt: object, min_words: int) -> bool:
    """Whether check 6 lets an excerpt pass.

    >>> is_valid_excerpt("It is 4 km long", 5), is_valid_excerpt("a a a a a", 5), is_valid_excerpt(None, 5)
    (True, False, False)
    """
    return isinstance(excerpt, str) and _is_quotable(excerpt, min_words)


@lru_cache(KEPT)
def _is_quotable(excerpt: str, min_words: int) -> bool:
    if _is_garbled(excerpt):
        return False
    clean = clean_text(excerpt).strip()
    if len(clean) > MAX_CHARACTERS:
        return False
    words = [word for word in parse_words(clean) if has_letter(word) or _has_number(word)]
    spaced = sum(not is_spaceless(word) for word in words)
    distinct = len({word for word in words if has_letter(word)})
    return len(words) >= min_words and spaced <= MAX_WORDS and distinct >= MIN_DISTINCT


@lru_cache(KEPT)
def repeats_statement(excerpt: str, statement: str) -> bool:
    """Whether the statement stands in the excerpt, in sentences that have little else.

    >>> repeats_statement("Yes. The Moon is made of cheese! No.", "the moon is made of cheese")
    True
    >>> repeats_statement("It is a myth that the Moon is made of cheese", "the moon is made of cheese")
    False
    """
    wanted = parse_forms(statement)
    tokens = tokenise(excerpt)
    runs = find_runs(wanted, tokens.forms)
    if not runs:
        return False
    ends = [end for _, end in split_sentences(tokens.text)]
    places = [bisect_right(ends, start) for start in tokens.starts.tolist()]
    touched = ((places[run], places[run + len(wanted) - 1]) for run in runs)
    return any(4 * sum(first <= place <= last for place in places) <= 5 * len(wanted) for first, last in touched)


def _has_number(word: str) -> bool:
    return any(unicodedata.category(c)[0] == "N" for c in word)


def _is_garbled(text: str) -> bool:
    controls = any(unicodedata.category(c) == "Cc" and c not in ALLOWED_CONTROLS for c in set(text))
    return controls or REPLACEMENT in text or has_lone_surrogate(text)
