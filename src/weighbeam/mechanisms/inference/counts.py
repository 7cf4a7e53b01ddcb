"""What a text is made of, in whole numbers: all that its quality needs of it besides cosines (spec § 4)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

from weighbeam.core.language import count_distinct, count_function
from weighbeam.core.words import clean_text, find_cased_words, find_words, split_sentences
from weighbeam.mechanisms.inference.words import has_digit, is_content, take_stem

Triple: TypeAlias = tuple[str, str, str]
LONG_WORD = 9


@dataclass(frozen=True, slots=True)
class Counts:
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
    def from_json(cls, given: dict[str, Any]) -> "Counts":
        return cls(**given)


@dataclass(frozen=True)
class Text:
    """A text read once: clean, its words, its sentences."""

    raw: str

    @cached_property
    def clean(self) -> str:
        return clean_text(self.raw)

    @cached_property
    def words(self) -> list[str]:
        return find_words(self.clean)

    @cached_property
    def sentences(self) -> list[str]:
        return split_sentences(self.clean)

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


def count_text(text: Text, prompt: Text) -> Counts:
    """The numbers of an answer to a prompt."""
    content = [word for word in text.words if is_content(word)]
    stems = set(map(take_stem, content))
    triples = list_triples(text.words)
    return Counts(
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
