"""The second look: two texts compared word by word and letter by letter, in whole numbers that anybody gets again.

An embedder tells what two texts are about. Whether they say the same turns on what it hardly sees: the order of the
words, a number, two names that change places, a letter in each word that is another.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

from weighbeam.core.text import FUNCTION_WORDS
from weighbeam.mechanisms.novelty.spelling import (
    SURE_LETTERS,
    find_plain_words,
    hash_runs,
    hash_triples,
    keep_runs,
    squeeze_letters,
)

MAX_WORDS = 400
"""Words of a text that the second look compares: aligning two texts costs their product."""
MAX_LETTERS = 2000
MAX_EXCHANGE = 80
"""Words of a text in which an exchange is looked for: it is one sentence, and an alignment can cost the cube."""
MIN_RESPELT, RESPELT = 4, 0.6
"""Letters of a word, and the share of them that must be in order, to know it in another spelling."""
ENDINGS = ("ies", "ing", "ed", "es", "ly", "s", "e")
MIN_STEM = 3
JOINING = frozenset({"and", "or", "as", "well", "with", "nor", "versus", "vs"})
DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Comparison of a known text and a new one. `words` and `letters` of each, and how many of both stand in the
    same order in the two; `content` words that both have, of all that either has; numbers that only one of them has;
    `exchanged` if two words that both have stand in each other's place."""

    known_words: int
    words: int
    words_in_order: int
    known_letters: int
    letters: int
    letters_in_order: int
    content: int
    all_content: int
    known_numbers: int
    numbers: int
    exchanged: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "ComparedTexts":
        return cls(**given)


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text as the second look reads it, made once however often it is compared."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    all_letters: str
    all_words: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """Whether a copy of it may have none of the kept runs of letters."""
        return len(self.all_letters) < SURE_LETTERS

    def list_kept(self) -> set[int]:
        """The runs by which parts of it are found: some of letters, all of three words."""
        return keep_runs(hash_runs(self.all_letters)) | set(hash_triples(self.all_words))

    @property
    def letters(self) -> str:
        return self.all_letters[:MAX_LETTERS]

    @property
    def content(self) -> frozenset[str]:
        return frozenset(stem for word, stem in zip(self.words, self.stems, strict=True) if _is_content(word))

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(word for word in self.words if DIGIT.search(word))


def read_text(text: str) -> ReadText:
    """
    >>> read_text("The otters slept.").stems
    ('the', 'otter', 'slept')
    """
    all_words = tuple(find_plain_words(text))
    words = all_words[:MAX_WORDS]
    return ReadText(words, tuple(map(find_stem, words)), squeeze_letters(text), all_words)


def compare_texts(known: ReadText, new: ReadText) -> ComparedTexts:
    """
    >>> a, b = read_text("Ann was born in Rome and died in Bern."), read_text("Ann was born in Bern and died in Rome.")
    >>> compare_texts(a, b).exchanged, compare_texts(a, a).exchanged
    (True, False)
    """
    ours, theirs = known.content, new.content
    letters = respell(known, new)
    return ComparedTexts(
        known_words=len(known.words),
        words=len(new.words),
        words_in_order=count_in_order(known.stems, new.stems),
        known_letters=len(known.letters),
        letters=len(letters),
        letters_in_order=count_in_order(known.letters, letters),
        content=len(ours & theirs),
        all_content=len(ours | theirs),
        known_numbers=len(known.numbers - new.numbers),
        numbers=len(new.numbers - known.numbers),
        exchanged=is_exchanged(known, new),
    )


def count_in_order(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, a row of the table in one addition (Hyyrö 2004).

    >>> count_in_order("harbour", "habrour"), count_in_order([], "a")
    (6, 0)
    """
    places: dict[str, int] = {}
    for place, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        found = row & places.get(item, 0)
        row = (row + found | row - found) & full
    return len(one) - row.bit_count()


def respell(known: ReadText, new: ReadText) -> str:
    """The squeezed letters of a new text, in which each word that stands where the known text has another spelling of
    it is read as that: reversed, with letters inserted, left out or replaced.

    >>> known = read_text("Cats sleep much during the day.")
    >>> respell(known, read_text("Cats peels much duxring the day.")) == known.letters
    True
    """
    if known.words == new.words or max(len(known.words), len(new.words)) > MAX_EXCHANGE:
        return new.letters
    words, read = list(new.words), False
    for kind, i, end, j, stop in SequenceMatcher(None, known.words, new.words, autojunk=False).get_opcodes():
        if kind == "replace" and end - i == stop - j:
            for ours, place in zip(known.words[i:end], range(j, stop), strict=True):
                if is_respelt(ours, words[place]):
                    words[place], read = ours, True
    return squeeze_letters(" ".join(words))[:MAX_LETTERS] if read else new.letters


def is_respelt(word: str, other: str) -> bool:
    """Whether two words have the same letters, or most of them in the same order; numbers are never alike.

    >>> is_respelt("during", "gnirud"), is_respelt("house", "houxse"), is_respelt("sleep", "dream")
    (True, True, False)
    """
    if min(len(word), len(other)) < MIN_RESPELT or DIGIT.search(word + other):
        return False
    longer = max(len(word), len(other))
    return sorted(word) == sorted(other) or count_in_order(word, other) >= RESPELT * longer


def is_exchanged(known: ReadText, new: ReadText) -> bool:
    """Whether a content word stands where another stood that itself stands elsewhere now; not if only `and` or the like
    is between the two, which means the same either way."""
    if known.stems == new.stems or max(len(known.stems), len(new.stems)) > MAX_EXCHANGE:
        return False
    ops = SequenceMatcher(None, known.stems, new.stems, autojunk=False).get_opcodes()
    changed = [op for op in ops if op[0] != "equal"]
    gone = {stem for _, i, end, _, _ in changed for stem in known.stems[i:end] if _is_content(stem)}
    come = {stem for _, _, _, j, end in changed for stem in new.stems[j:end] if _is_content(stem)}
    moved = gone & come
    for kind, i, end, j, stop in changed:
        if kind != "replace":
            continue
        left = [place for place in range(i, end) if known.stems[place] in moved]
        entered = {stem for stem in new.stems[j:stop] if stem in moved}
        for stem in entered - {known.stems[place] for place in left}:
            if left and any(_is_apart(known, place, stem) for place in left):
                return True
    return False


def _is_apart(known: ReadText, place: int, stem: str) -> bool:
    """Whether more than a joining word is between a place of the known text and the nearest place of a stem in it."""
    others = [other for other, one in enumerate(known.stems) if one == stem]
    nearest = min(others, key=lambda other: abs(other - place))
    low, high = sorted((place, nearest))
    between = known.words[low + 1 : high]
    return any(word not in JOINING for word in between) or not between


def find_stem(word: str) -> str:
    """
    >>> [find_stem(word) for word in ("otters", "swimming", "bodies", "gas")]
    ['otter', 'swimm', 'bod', 'gas']
    """
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word[: -len(ending)]
    return word


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in STEMMED_FUNCTION_WORDS


STEMMED_FUNCTION_WORDS = frozenset(map(find_stem, FUNCTION_WORDS))
