"""What a word counts as: content or filler, its stem, a yes or a no (spec §§ 4, 8, 14)."""

from typing import Literal, TypeAlias

from weighbeam.core.text import FUNCTION_WORDS

FILLER_WORDS = frozenset(
    """
    answer aspect aspects ask asked asking best better case cases certain choice choose consider consideration
    considerations definitely depend depending depends different element elements everyone everything explain
    factor factors find general generally give good great happy help important interesting issue issues kind
    know like likes lot lots make many matter matters need needs nice one ones people person please point points
    possible probably question questions really relevant right say significant single situation situations
    something sorry sort stuff sure thank thanks thing things think today topic usually various want way ways
    well work works
    """.split()
)


Polarity: TypeAlias = Literal["yes", "no"] | None

STEM = 6

YES = frozenset("yes yeah yep correct true affirmative".split())
NO = frozenset("no nope incorrect false negative".split())


def take_stem(word: str) -> str:
    return word[:STEM]


def has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def is_content(word: str) -> bool:
    """Does a lower-case word carry meaning of its own?

    >>> [word for word in ("the", "sky", "4", "is", "thing") if is_content(word)]
    ['sky', '4']
    """
    return has_digit(word) or (len(word) >= 3 and word not in FUNCTION_WORDS and word not in FILLER_WORDS)


def label_polarity(words: list[str]) -> Polarity:
    """What the first word of an answer says to a question of yes or no.

    >>> label_polarity(["yes", "but"]), label_polarity(["perhaps"]), label_polarity([])
    ('yes', None, None)
    """
    first = words[0] if words else ""
    if first in YES:
        return "yes"
    return "no" if first in NO else None
