"""A text made ready for matching: its tokens as numbers, so that a page is read once and searched many times."""

import codecs
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.forms import Kind, is_letters, split_form, take_form, tell_kind
from weighbeam.mechanisms.evidence.tokens import find_tokens

TYPO_LETTERS = 4
# Looked up at import: the first use of a codec opens its file.
CODE_POINTS = codecs.lookup("utf-32-le")


class Vocabulary:
    """The distinct forms of a text by number, and what matching asks of each."""

    def __init__(self, forms: list[str]) -> None:
        self.forms = forms
        self.numbers = {form: number for number, form in enumerate(forms)}
        self.kinds: list[Kind] = [tell_kind(form) for form in forms]

    def __len__(self) -> int:
        return len(self.forms)

    def find_word(self, form: str) -> int:
        """The number of a form of kind word, −1 if the text has none such."""
        number = self.numbers.get(form, -1)
        return number if number >= 0 and self.kinds[number] == "word" else -1

    @cached_property
    def mistypable(self) -> NDArray[np.bool_]:
        """(vocabulary,) which forms a typo may be forgiven in."""
        pairs = zip(self.forms, self.kinds, strict=True)
        return np.array([kind == "word" and is_mistypable(form) for form, kind in pairs], dtype=np.bool_)

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        return np.array([len(form) for form in self.forms], dtype=np.int32)

    @cached_property
    def initials(self) -> NDArray[np.int32]:
        return np.array([ord(form[0]) for form in self.forms], dtype=np.int32)


@dataclass(frozen=True)
class Tokens:
    """The tokens of a cleaned text, (tokens,) each: form by number, offsets, and whether written in lower case."""

    text: str
    vocabulary: Vocabulary
    numbers: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    lower: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def forms(self) -> list[str]:
        forms = self.vocabulary.forms
        return [forms[number] for number in self.numbers.tolist()]

    @cached_property
    def letters(self) -> str:
        """One character per token, so that an exact search is a text search in C."""
        return spell_numbers(self.numbers)

    def drop_kinds(self, kinds: Collection[Kind]) -> "Tokens":
        """The same text as if tokens of these kinds were not there."""
        stays = np.array([kind not in kinds for kind in self.vocabulary.kinds], dtype=np.bool_)
        kept = stays[self.numbers] if len(self) else np.zeros(0, dtype=np.bool_)
        return replace(
            self,
            numbers=self.numbers[kept],
            starts=self.starts[kept],
            ends=self.ends[kept],
            lower=self.lower[kept],
        )


def is_mistypable(form: str) -> bool:
    """Long enough, and of letters and marks only."""
    return len(form) >= TYPO_LETTERS and is_letters(form)


def spell_numbers(numbers: NDArray[Any]) -> str:
    """Numbers as code points."""
    return CODE_POINTS.decode(numbers.astype("<u4").tobytes(), "surrogatepass")[0]


def tokenise(text: str) -> Tokens:
    """Clean a text and number its tokens; a contraction counts as two over the same characters.

    >>> tokens = tokenise("It can't be. It can")
    >>> tokens.forms, tokens.starts.tolist()
    (['it', 'can', 'not', 'be', 'it', 'can'], [0, 3, 3, 9, 13, 16])
    """
    clean = clean_text(text)
    spans = find_tokens(clean)
    written = [clean[start:end] for start, end in spans]
    distinct = {token: number for number, token in enumerate(dict.fromkeys(written))}
    forms: dict[str, int] = {}
    split = [[forms.setdefault(form, len(forms)) for form in split_form(take_form(token))] for token in distinct]
    require(len(forms) <= sys.maxunicode, "bad_input", "a text with more words than any page has")
    which = np.fromiter(map(distinct.__getitem__, written), dtype=np.int32, count=len(written))
    times = np.array([len(numbers) for numbers in split], dtype=np.int32)
    firsts = np.cumsum(times, dtype=np.int32) - times
    at = np.repeat(np.arange(len(written), dtype=np.int32), times[which])
    second = np.concatenate(([False], at[1:] == at[:-1])) if len(at) else np.zeros(0, dtype=np.bool_)
    flat = np.array([number for numbers in split for number in numbers], dtype=np.int32)
    offsets = np.array(spans, dtype=np.int32).reshape(-1, 2)
    return Tokens(
        text=clean,
        vocabulary=Vocabulary(list(forms)),
        numbers=flat[firsts[which[at]] + second],
        starts=offsets[at, 0],
        ends=offsets[at, 1],
        lower=np.array([token.islower() for token in distinct], dtype=np.bool_)[which[at]],
    )
