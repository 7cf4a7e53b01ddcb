"""Content of a text beyond the prompt: stems of its content words, a script without spaces in pairs of letters."""

import re
from collections.abc import Iterator, Sequence

from weighbeam.core.text import find_words
from weighbeam.mechanisms.inference.text.languages import SPACELESS, list_glue
from weighbeam.mechanisms.inference.text.words import FILLER_WORDS, STEM, has_digit

RUN = re.compile(rf"{SPACELESS.pattern}+|(?:(?!{SPACELESS.pattern}).)+")
LEAST_LETTERS = 3


def find_tokens(words: Sequence[str]) -> Iterator[str]:
    """Words as they are; letters of a script without spaces in pairs.

    >>> list(find_tokens(["moon", "引力潮汐3"]))
    ['moon', '引力', '力潮', '潮汐', '3']
    """
    for word in words:
        if word.isascii() or not SPACELESS.search(word):
            yield word
            continue
        for run in RUN.findall(word):
            if SPACELESS.match(run):
                yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            else:
                yield run


def is_telling(token: str, glue: frozenset[str]) -> bool:
    """Does a token carry meaning of its own?"""
    if len(token) >= LEAST_LETTERS and token not in glue and token not in FILLER_WORDS:
        return True
    return has_digit(token) or (not token.isascii() and SPACELESS.search(token) is not None)


def list_stems(clean: str, language: str | None) -> list[str]:
    """The stems of content words, with repetition.

    >>> list_stems("The Moon raises the tides, 2 a day.", "en")
    ['moon', 'raises', 'tides', '2', 'day']
    """
    return stem_words(find_words(clean), language)


def stem_words(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of those of a text's words that carry content, with repetition."""
    glue = list_glue(language)
    return [token[:STEM] for token in find_tokens(words) if is_telling(token, glue)]


def list_all_stems(clean: str) -> set[str]:
    """The stems of all words of a prompt: none of them is new in an answer."""
    return {token[:STEM] for token in find_tokens(find_words(clean))}
