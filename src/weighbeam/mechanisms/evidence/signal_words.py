"""The word lists of the context signals: package data with a version, recorded by its SHA-256."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from weighbeam.core.canonical import digest_text
from weighbeam.mechanisms.evidence.forms import read_forms

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
def read_signal_words() -> SignalWords:
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
    for term in sorted((tuple(read_forms(term)) for term in terms), key=len, reverse=True):
        index.setdefault(term[0], []).append(term)
    return {first: tuple(found) for first, found in index.items()}
