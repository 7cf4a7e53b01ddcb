"""A text made ready for matching: its tokens as numbers, so that a page is read once and searched many times."""

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import require
from weighbeam.mechanisms.evidence.excerpt.forms import (
    Kind,
    classify_form,
    find_kinds,
    is_letters,
    is_split,
    split_form,
    take_forms,
)
from weighbeam.mechanisms.evidence.excerpt.page_spans import CODE_POINTS, Places, find_spans, to_code_points
from weighbeam.mechanisms.evidence.excerpt.quantities import find_cuts, find_roles
from weighbeam.mechanisms.evidence.excerpt.text import clean_text

TYPO_LETTERS = 4


class Vocabulary:
    """The distinct forms of a text by number, and what matching asks of each."""

    def __init__(self, forms: list[str]) -> None:
        self.forms = forms
        self.numbers = {form: number for number, form in enumerate(forms)}

    def __len__(self) -> int:
        return len(self.forms)

    def find_word(self, form: str) -> int:
        """The number of a form of kind word, −1 if the text has none such."""
        number = self.numbers.get(form, -1)
        return number if number >= 0 and classify_form(form) == "word" else -1

    def find_kinds(self, kinds: Collection[Kind]) -> list[int]:
        """The numbers of the forms of these kinds, none of them `word`."""
        return [number for kind in kinds for number in (self._counts if kind == "number" else self._find_kind(kind))]

    @cached_property
    def mistypable(self) -> NDArray[np.bool_]:
        """(vocabulary,) which forms a typo may be forgiven in."""
        mistypable = self.lengths >= TYPO_LETTERS
        odd = mistypable & ~np.fromiter(map(str.isalpha, self.forms), dtype=np.bool_, count=len(self))
        mistypable[odd] = [is_letters(self.forms[number]) for number in np.flatnonzero(odd).tolist()]
        mistypable[self.find_kinds(("number", "negation", "quantifier"))] = False
        return mistypable

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        return np.fromiter(map(len, self.forms), dtype=np.int32, count=len(self))

    @cached_property
    def initials(self) -> NDArray[np.uint32]:
        points, firsts = self._spelled
        return points[firsts]

    def spell(self, numbers: NDArray[np.int64], length: int) -> NDArray[np.uint32]:
        """(length, numbers) the code points of forms that are all of one length, a row per place in the word."""
        points, firsts = self._spelled
        spelled: NDArray[np.uint32] = points[firsts[numbers] + np.arange(length)[:, None]]
        return spelled

    @cached_property
    def roles(self) -> NDArray[np.uint8]:
        """(vocabulary,) the part of each form in a quantity."""
        return find_roles(self.forms, self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        return self._find_kind("number")

    def _find_kind(self, kind: Kind) -> list[int]:
        return find_kinds(self.numbers, (kind,))

    @cached_property
    def _spelled(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The code points of all forms, one after the other, and where each begins."""
        return to_code_points("".join(self.forms)), np.cumsum(self.lengths, dtype=np.int64) - self.lengths


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

    @cached_property
    def cuts(self) -> NDArray[np.bool_]:
        """(tokens + 1,) the borders at which no match may begin or end, since they lie inside a quantity."""
        return find_cuts(self.text, self.starts, self.ends, self.vocabulary.roles[self.numbers])

    def drop_kinds(self, kinds: Collection[Kind]) -> "Tokens":
        """The same text as if tokens of these kinds were not there."""
        stays = np.ones(len(self.vocabulary), dtype=np.bool_)
        stays[self.vocabulary.find_kinds(kinds)] = False
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
    starts, ends = find_spans(clean)
    distinct, which = _number_tokens(clean, starts, ends)
    pieces, times = _split_all(take_forms(distinct))
    vocabulary = Vocabulary(list(dict.fromkeys(pieces)))
    require(len(vocabulary) <= sys.maxunicode, "bad_input", "a text with more words than any page has")
    firsts = np.cumsum(times, dtype=np.int32) - times
    at = np.repeat(np.arange(len(which), dtype=np.int32), times[which])
    second = np.concatenate(([False], at[1:] == at[:-1])) if len(at) else np.zeros(0, dtype=np.bool_)
    flat = np.fromiter(map(vocabulary.numbers.__getitem__, pieces), dtype=np.int32, count=len(pieces))
    return Tokens(
        text=clean,
        vocabulary=vocabulary,
        numbers=flat[firsts[which[at]] + second],
        starts=starts[at].astype(np.int32),
        ends=ends[at].astype(np.int32),
        lower=np.array([token.islower() for token in distinct], dtype=np.bool_)[which[at]],
    )


def _number_tokens(clean: str, starts: Places, ends: Places) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct tokens as written, and the number of each. Only tokens of one character can be a million: those are
    counted, and never made strings."""
    single = ends - starts == 1
    points = to_code_points(clean)[starts[single]]
    held = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    held[points] = True
    letters = np.flatnonzero(held)
    bounds = zip(starts[~single].tolist(), ends[~single].tolist(), strict=True)
    written = [clean[start:end] for start, end in bounds]
    words = {word: number for number, word in enumerate(dict.fromkeys(written), len(letters))}
    which = np.zeros(len(starts), dtype=np.int64)
    which[single] = np.searchsorted(letters, points)
    which[~single] = np.fromiter(map(words.__getitem__, written), dtype=np.int64, count=len(written))
    return [*map(chr, letters.tolist()), *words], which


def _split_all(forms: list[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The forms that each counts as, one after the other, and how many these are; hardly any is split."""
    times = np.ones(len(forms), dtype=np.int32)
    split = {at: split_form(form) for at, form in enumerate(forms) if is_split(form)}
    if not split:
        return forms, times
    times[list(split)] = [len(pieces) for pieces in split.values()]
    return [piece for at, form in enumerate(forms) for piece in split.get(at, (form,))], times
