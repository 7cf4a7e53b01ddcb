"""How each form of an excerpt could match a page (spec § 7), worked out before any start is tried."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanisms.evidence.forms import tell_kind
from weighbeam.mechanisms.evidence.page_tokens import Tokens, is_mistypable

# A valid excerpt has at most 200 words in 1,000 characters. Beyond that forms match exactly or not at all, so that no
# excerpt can make the search quadratic.
MOST_WORDS = 200
MOST_FORMS = 1_000
NOWHERE: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Plan:
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

    @property
    def unjoined(self) -> NDArray[np.bool_]:
        """Forms that no join takes part in."""
        joins = self.joined >= 0
        after = np.concatenate(([False], joins[:-1]))
        return ~joins & ~after & np.array([places.size == 0 for places in self.pairs], dtype=np.bool_)

    @property
    def rigid(self) -> bool:
        """Whether every form matches by being equal, or not at all."""
        return bool((self.unjoined & ~self.mistypable).all())

    @property
    def hopeless(self) -> bool:
        """Whether more forms are missing on the page than typos are forgiven."""
        missing = self.unjoined & (self.numbers < 0)
        return bool((missing & ~self.mistypable).any() or np.count_nonzero(missing) > self.budget)


def make_plan(page: Tokens, forms: Sequence[str], budget: int) -> Plan:
    vocabulary = page.vocabulary
    words = _find_words(forms)
    joined = [-1] * len(forms)
    for i in range(len(forms) - 1):
        if words[i] and words[i + 1]:
            joined[i] = vocabulary.find_word(forms[i] + forms[i + 1])
    distinct = {form for form, word in zip(forms, words, strict=True) if word}
    pairs = {form: _find_pairs(page, form) for form in distinct}
    return Plan(
        forms=forms,
        budget=min(budget, MOST_WORDS),
        numbers=np.array([vocabulary.numbers.get(form, -1) for form in forms], dtype=np.int64),
        joined=np.array(joined, dtype=np.int64),
        pairs=[pairs[form] if word else NOWHERE for form, word in zip(forms, words, strict=True)],
        mistypable=np.array(
            [word and budget > 0 and is_mistypable(form) for form, word in zip(forms, words, strict=True)],
            dtype=np.bool_,
        ),
    )


def _find_words(forms: Sequence[str]) -> list[bool]:
    """Which forms may be joined or mistyped at all."""
    if len(forms) > MOST_FORMS:
        return [False] * len(forms)
    words = [tell_kind(form) == "word" for form in forms]
    usual = sum(words) <= MOST_WORDS
    return [usual and word and len(form) <= MOST_FORMS for word, form in zip(words, forms, strict=True)]


def _find_pairs(page: Tokens, form: str) -> NDArray[np.int64]:
    """Where two neighbours on the page, both words, make the form when joined."""
    vocabulary = page.vocabulary
    splits = ((vocabulary.find_word(form[:i]), vocabulary.find_word(form[i:])) for i in range(1, len(form)))
    places = [
        np.flatnonzero((page.numbers[:-1] == first) & (page.numbers[1:] == second))
        for first, second in splits
        if first >= 0 and second >= 0
    ]
    return np.concatenate(places) if places else NOWHERE
