"""Whether a text reads as connected language (docs/spec/inference.md § 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.core.stats import ramp
from weighbeam.core.text import FUNCTION_WORDS, clean_text, find_words, split_sentences

FEW_WORDS, MAX_VARIETY = 5, 50


@dataclass(frozen=True, slots=True)
class Language:
    """How far words are held together, how far they vary, and how far sentences are not repeated: each 0 to 1."""

    glue: float
    variety: float
    distinct: float

    @property
    def score(self) -> float:
        return self.glue * self.variety * self.distinct


@dataclass(frozen=True, slots=True)
class TextMakeup:
    """Counts of a text: words, distinct words, function words, sentences, distinct sentences."""

    words: int
    distinct_words: int
    function: int
    sentences: int
    distinct_sentences: int


def judge_language(make: TextMakeup, prose: bool = True) -> Language:
    """Judge the language of a text of at least one word. Text that is not prose must only not repeat itself.

    >>> judge_language(TextMakeup(words=10, distinct_words=9, function=4, sentences=1, distinct_sentences=1)).score
    1.0
    """
    n = make.words
    glue = ramp(make.function / n, 0.08, 0.25) if prose and n >= FEW_WORDS else 1.0
    variety = ramp(make.distinct_words / min(n, MAX_VARIETY), 0.3, 0.7) if prose else 1.0
    return Language(glue, variety, make.distinct_sentences / make.sentences)


def count_makeup(text: str) -> TextMakeup:
    """
    >>> count_makeup("The sky is blue. The sky is blue.")
    TextMakeup(words=8, distinct_words=4, function=4, sentences=2, distinct_sentences=1)
    """
    clean = clean_text(text)
    words, sentences = find_words(clean), split_sentences(clean)
    return TextMakeup(len(words), len(set(words)), count_function(words), len(sentences), count_distinct(sentences))


def count_function(words: Sequence[str]) -> int:
    return sum(word in FUNCTION_WORDS for word in words)


def count_distinct(sentences: Sequence[str]) -> int:
    """Sentences that differ in their words."""
    return len({tuple(find_words(sentence)) for sentence in sentences})
