"""Classes of words: content or filler, stems, yes or no (spec §§ 4, 8, 14)."""

import re
from collections.abc import Sequence
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

DENIAL = "¬"
"""Stands among the stems of a short answer that denies: "no" and "can't" share no letters and say the same."""
DENYING = frozenset(
    """
    no nope not never nothing nobody none neither nor nowhere cannot nicht nichts nie niemals niemand kein keine
    keinen keiner nein non pas jamais rien aucun aucune nunca nada nadie ninguno ninguna não nenhum nenhuma ninguém
    mai niente nessuno nessuna niet niets nooit geen nee
    """.split()
)
ABSTAINING = re.compile(
    r"\b(?:no comment|no idea|not sure|unsure|(?:do not|don['’]t|cannot|can['’]t) (?:know|say|tell))\b", re.IGNORECASE
)
MAX_ABSTAINING = 12

YES = frozenset("yes yeah yep correct true affirmative".split())
NO = frozenset("no nope incorrect false negative".split())


def take_stem(word: str) -> str:
    return word[:STEM]


def has_digit(word: str) -> bool:
    return not word.isalpha() and any(character.isdigit() for character in word)


def is_content(word: str) -> bool:
    """Does a lower-case word carry meaning of its own?

    >>> [word for word in ("the", "sky", "4", "is", "thing") if is_content(word)]
    ['sky', '4']
    """
    return has_digit(word) or (len(word) >= 3 and word not in FUNCTION_WORDS and word not in FILLER_WORDS)


def denies(words: Sequence[str]) -> bool:
    """
    >>> denies(["they", "can't"]), denies(["nothing", "happens"]), denies(["yes"])
    (True, True, False)
    """
    return any(word in DENYING or word.endswith(("n't", "n’t")) for word in words)


def abstains(clean: str, words: int) -> bool:
    """Does a short text say that its writer does not know, instead of answering?

    >>> abstains("I have no comment.", 4), abstains("The comment is here.", 4)
    (True, False)
    """
    return words <= MAX_ABSTAINING and bool(ABSTAINING.search(clean))


def label_polarity(words: list[str]) -> Polarity:
    """Polarity of an answer's first word to a yes-or-no question.

    >>> label_polarity(["yes", "but"]), label_polarity(["perhaps"]), label_polarity([])
    ('yes', None, None)
    """
    first = words[0] if words else ""
    if first in YES:
        return "yes"
    return "no" if first in NO else None
