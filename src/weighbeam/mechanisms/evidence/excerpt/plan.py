"""How each form of an excerpt could match a page (spec § 7), worked out before any start is tried."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.excerpt.forms import classify_form
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Tokens, is_mistypable
from weighbeam.mechanisms.evidence.excerpt.tokens import is_spaceless

# A valid excerpt has at most 200 words in 1,000 characters, letters of scripts without spaces not counted: those match
# exactly or not at all. So do all forms beyond that, so that no excerpt can make the search quadratic.
MAX_WORDS = 200
MAX_FORMS = 1_000
NOWHERE: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class MatchCodes:
    """Page tokens, excerpt forms and their joins, renumbered in two bytes: this halves the time of a
    comparison. Forms without a counterpart are 0 on the page, and 1 in the excerpt."""

    page: NDArray[np.uint16]
    forms: NDArray[np.uint16]
    joined: NDArray[np.uint16]


@dataclass(frozen=True)
class MatchPlan:
    """Per form of the excerpt: its number on the page, that of the page form it makes with the next form, and the
    places of two neighbours on the page that make it. −1 stands for a form that the page does not have.
    """

    forms: Sequence[str]
    budget: int
    numbers: NDArray[np.int64]
    joined: NDArray[np.int64]
    pairs: Sequence[NDArray[np.int64]]
    mistypable: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.forms)

    @cached_property
    def unjoined(self) -> NDArray[np.bool_]:
        """Forms that no join takes part in."""
        joins = self.joined >= 0
        after = np.concatenate(([False], joins[:-1]))
        return ~joins & ~after & np.array([places.size == 0 for places in self.pairs], dtype=np.bool_)

    def encode(self, page: Tokens) -> MatchCodes:
        known = np.array(sorted({*self.numbers.tolist(), *self.joined.tolist()}), dtype=np.int64)
        table = np.zeros(len(page.vocabulary) + 1, dtype=np.uint16)
        table[known] = np.arange(2, len(known) + 2, dtype=np.uint16)
        table[-1] = 1
        return MatchCodes(table[page.numbers], table[self.numbers], table[self.joined])

    @property
    def rigid(self) -> bool:
        """Whether every form matches by being equal, or not at all."""
        return bool(self.exact.all())

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """Forms that match by being equal, or not at all."""
        return self.unjoined & ~self.mistypable

    def count_exact(self, behind: int) -> int:
        """How many forms right before this one are exact."""
        flexible = np.flatnonzero(~self.exact[:behind])
        return behind - 1 - int(flexible[-1]) if flexible.size else behind

    @property
    def hopeless(self) -> bool:
        """Whether more forms are missing on the page than typos are forgiven."""
        missing = self.unjoined & (self.numbers < 0)
        return bool((missing & ~self.mistypable).any() or np.count_nonzero(missing) > self.budget)


def make_plan(page: Tokens, forms: Sequence[str], budget: int) -> MatchPlan:
    vocabulary = page.vocabulary
    words = _find_words(forms)
    joined = [-1] * len(forms)
    for i in range(len(forms) - 1):
        if words[i] and words[i + 1]:
            joined[i] = vocabulary.find_word(forms[i] + forms[i + 1])
    pairs = _find_pairs(page, {form for form, word in zip(forms, words, strict=True) if word})
    return MatchPlan(
        forms=forms,
        budget=min(budget, MAX_WORDS),
        numbers=np.array([vocabulary.numbers.get(form, -1) for form in forms], dtype=np.int64),
        joined=np.array(joined, dtype=np.int64),
        pairs=[pairs.get(form, NOWHERE) if word else NOWHERE for form, word in zip(forms, words, strict=True)],
        mistypable=np.array(
            [word and budget > 0 and is_mistypable(form) for form, word in zip(forms, words, strict=True)],
            dtype=np.bool_,
        ),
    )


def _find_words(forms: Sequence[str]) -> list[bool]:
    """Which forms may be joined or mistyped at all."""
    if len(forms) > MAX_FORMS:
        return [False] * len(forms)
    words = [classify_form(form) == "word" and not is_spaceless(form) for form in forms]
    usual = sum(words) <= MAX_WORDS
    return [usual and word and len(form) <= MAX_FORMS for word, form in zip(words, forms, strict=True)]


def _find_pairs(page: Tokens, forms: Collection[str]) -> dict[str, NDArray[np.int64]]:
    """Where two neighbours on the page, both words, make a form when joined: for all forms in one go over the page."""
    vocabulary = page.vocabulary
    halves = [(form, form[:i], form[i:]) for form in forms for i in range(1, len(form))]
    numbered = [(form, vocabulary.find_word(first), vocabulary.find_word(second)) for form, first, second in halves]
    wanted = {first * len(vocabulary) + second: form for form, first, second in numbered if min(first, second) >= 0}
    if not wanted:
        return {}
    keys = np.array(sorted(wanted), dtype=np.int64)
    begins = np.zeros(len(vocabulary), dtype=np.bool_)
    begins[keys // len(vocabulary)] = True
    places = np.flatnonzero(begins[page.numbers[:-1]])
    pairs = page.numbers[places] * np.int64(len(vocabulary)) + page.numbers[places + 1]
    which = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    made = keys[which] == pairs
    found: dict[str, list[NDArray[np.int64]]] = {}
    which, places = which[made].astype(np.min_scalar_type(len(keys))), places[made]
    order = np.argsort(which, kind="stable")
    for group in np.split(order, np.flatnonzero(which[order][1:] != which[order][:-1]) + 1):
        if group.size:
            found.setdefault(wanted[int(keys[which[group[0]]])], []).append(places[group])
    return {form: np.concatenate(several) for form, several in found.items()}
