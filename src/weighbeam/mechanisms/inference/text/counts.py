"""Counts of a text and the words it shares with another: all inputs of quality and copying except cosines (spec §§ 4,
5).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.language import count_distinct, count_function
from weighbeam.core.text import clean_text, find_cased_words, find_words, split_sentences
from weighbeam.mechanisms.inference.text.content import stem_words
from weighbeam.mechanisms.inference.text.languages import tell_language
from weighbeam.mechanisms.inference.text.words import has_digit, is_content, take_stem

Triple: TypeAlias = tuple[str, str, str]
LONG_WORD = 9


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Numbers of things in one answer; `triples` are word 3-grams, `echoed` those that stand in the prompt."""

    words: int
    distinct_words: int
    content: int
    function: int
    stems: int
    fresh: int
    triples: int
    echoed: int
    marks: int
    sentences: int
    distinct_sentences: int

    def as_json(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "TextCounts":
        return cls(**given)


def count_signs(clean: str) -> int:
    """Characters that are neither blank nor part of a word.

    >>> count_signs("4 = 2 + 2, isn't it?")
    4
    """
    return sum(map(len, clean.split())) - sum(map(len, find_cased_words(clean)))


@dataclass(frozen=True)
class ParsedText:
    """A text read once: clean, its words, its sentences."""

    raw: str

    @cached_property
    def clean(self) -> str:
        return clean_text(self.raw)

    @cached_property
    def words(self) -> list[str]:
        return find_words(self.clean)

    @cached_property
    def language(self) -> str | None:
        return tell_language(self.clean, self.words)

    @cached_property
    def telling(self) -> frozenset[str]:
        """The stems of its content words, by the function words of its language."""
        return frozenset(stem_words(self.words, self.language))

    @cached_property
    def sentences(self) -> list[str]:
        return split_sentences(self.clean)

    @cached_property
    def last_line(self) -> str:
        """Its last line with words: of a prompt often what its instruction is about."""
        lines = [line.strip() for line in self.clean.splitlines() if find_words(line)]
        return lines[-1] if lines else ""

    @cached_property
    def triples(self) -> frozenset[Triple]:
        return frozenset(list_triples(self.words))

    @cached_property
    def known(self) -> frozenset[str]:
        """The words and their stems."""
        return frozenset(self.words) | self.stems

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(take_stem, self.words))


def list_triples(words: Sequence[str]) -> list[Triple]:
    """Word 3-grams, with repetition.

    >>> list_triples("to be or not".split())
    [('to', 'be', 'or'), ('be', 'or', 'not')]
    """
    return [(a, b, c) for (a, b), (_, c) in pairwise(pairwise(words))]


def count_text(text: ParsedText, prompt: ParsedText) -> TextCounts:
    """The numbers of an answer to a prompt."""
    content = [word for word in text.words if is_content(word)]
    stems = set(map(take_stem, content))
    triples = list_triples(text.words)
    return TextCounts(
        words=len(text.words),
        distinct_words=len(set(text.words)),
        content=len(content),
        function=count_function(text.words),
        stems=len(stems),
        fresh=len(stems - prompt.stems),
        triples=len(triples),
        echoed=sum(triple in prompt.triples for triple in triples),
        marks=len(find_marks(text.sentences) - prompt.known),
        sentences=len(text.sentences),
        distinct_sentences=count_distinct(text.sentences),
    )


def find_marks(sentences: Sequence[str]) -> set[str]:
    """Concrete details: words with digits whole, names and long words by their stem.

    >>> sorted(find_marks(["In 1871 Lord Rayleigh explained scattering."]))
    ['1871', 'explai', 'lord', 'raylei', 'scatte']
    """
    marks: set[str] = set()
    for sentence in sentences:
        for place, written in enumerate(find_cased_words(sentence)):
            word = written.lower()
            if has_digit(word):
                marks.add(word)
            elif is_content(word) and ((place and written[0].isupper()) or len(word) >= LONG_WORD):
                marks.add(take_stem(word))
    return marks


def number_wordings(texts: Sequence[ParsedText]) -> list[int]:
    """Texts with equal word lists share the number of the first of them.

    >>> number_wordings([ParsedText("Yes."), ParsedText("No!"), ParsedText("yes")])
    [0, 1, 0]
    """
    first: dict[tuple[str, ...], int] = {}
    return [first.setdefault(tuple(text.words), number) for number, text in enumerate(texts)]


def count_shared(texts: Sequence[ParsedText]) -> Iterator[tuple[int, int, int]]:
    """(i, j, triples in common) of every pair i < j that has any. Only triples met twice are ever compared."""
    met: Counter[Triple] = Counter()
    for text in texts:
        met.update(text.triples)
    common = [frozenset(triple for triple in text.triples if met[triple] > 1) for text in texts]
    busy = [number for number, triples in enumerate(common) if triples]
    for at, i in enumerate(busy):
        for j in busy[at + 1 :]:
            shared = len(common[i] & common[j])
            if shared:
                yield i, j, shared


NEARLY = 0.6
"""Two texts with this share of their triples in common are versions of one."""


def count_borrowed(
    texts: Sequence[ParsedText], prompt: ParsedText, seconds: Sequence[float]
) -> Iterator[tuple[int, int, int]]:
    """Of each text, the triples that are not in the prompt; how many of them are in a text that came before
    it; and how many if versions of the text itself are left aside.

    >>> texts = [ParsedText(text) for text in ("red light is bent", "so red light is bent less")]
    >>> list(count_borrowed(texts, ParsedText("Why?"), [1.0, 2.0]))
    [(2, 0, 0), (4, 2, 2)]
    """
    first: dict[Triple, list[int]] = {}
    for place in sorted(range(len(texts)), key=seconds.__getitem__):
        for triple in texts[place].triples:
            first.setdefault(triple, []).append(place)
    for place, text in enumerate(texts):
        own = text.triples - prompt.triples
        met = [first[triple] for triple in own if len(first[triple]) > 1]
        sources = [{one for one in places if seconds[one] < seconds[place]} for places in met]
        shared = Counter(one for found in sources for one in found)
        versions = {
            one for one, common in shared.items() if common >= NEARLY * len(own | (texts[one].triples - prompt.triples))
        }
        yield len(own), sum(map(bool, sources)), sum(bool(found - versions) for found in sources)


def fill_overlaps(sizes: Sequence[int], wordings: Sequence[int], shared: NDArray[np.integer]) -> NDArray[np.float64]:
    """The matrix of overlaps from each text's number of distinct triples, its wording, and rows (i, j, shared).

    >>> fill_overlaps([4, 2], [0, 1], np.array([[0, 1, 2]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    same = np.asarray(wordings)
    overlap: NDArray[np.float64] = (same[:, None] == same[None, :]).astype(np.float64)
    i, j, common = shared.reshape(-1, 3).T
    size = np.asarray(sizes, dtype=np.int64)
    jaccard = common / (size[i] + size[j] - common)
    overlap[i, j] = np.maximum(overlap[i, j], jaccard)
    overlap[j, i] = overlap[i, j]
    return overlap


def compare_texts(texts: Sequence[ParsedText]) -> NDArray[np.float64]:
    """The overlaps of all texts with each other."""
    shared = np.array(list(count_shared(texts)), dtype=np.int64).reshape(-1, 3)
    return fill_overlaps([len(text.triples) for text in texts], number_wordings(texts), shared)
