"""Counts of an answer for the rules of its kind (spec § 18)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.text import FUNCTION_WORDS, find_words
from weighbeam.core.word_order import read_order
from weighbeam.mechanisms.inference.text.content import list_all_stems
from weighbeam.mechanisms.inference.text.counts import ParsedText
from weighbeam.mechanisms.inference.text.kinds import Kind, has_code
from weighbeam.mechanisms.inference.text.languages import ENGLISH, is_spaceless, list_glue
from weighbeam.mechanisms.inference.text.words import DENIAL, STEM, abstains, denies, has_digit

TALK = frozenset(
    word[:STEM]
    for word in "asked assist assistance complete correct fully helpful preferred rating request requests response "
    "responses".split()
)
"""Stems of talk about the answer itself."""

SWALLOWED_FROM, SWALLOWED = 8, 0.9
LIST_LINE, DIGIT_LINE, LONG_LINE = 9, 40, 50
DIGITS, LIST_GLUE, FIGURES = 0.12, 0.15, 0.3
CODE_SIGNS = re.compile(r"[=(){}\[\]<>;_]|^\s{4}|^\s*#")


@dataclass(frozen=True, slots=True)
class PromptTraits:
    """Traits of the prompt, which answers are compared with."""

    words: Sequence[str]
    stems: frozenset[str]
    triples: frozenset[tuple[str, str, str]]
    language: str | None


def read_prompt(prompt: ParsedText) -> PromptTraits:
    return PromptTraits(prompt.words, frozenset(list_all_stems(prompt.clean)), prompt.triples, prompt.language)


@dataclass(frozen=True, slots=True)
class TextTraits:
    """`fresh` content stems stand in no prompt, `own` of them do not talk about the answer itself either, `met` other
    answers have one of them. The other answers together have `others` such stems, the middle one of them `typical`;
    `gathered` of them stand here, and `swallowed` others have nearly all of theirs here. `covered` of the prompt's
    word triples occur. `order` is z in thousandths over `pairs`, `fit` in thousandths. Who `abstains` says so in a few
    words; rounds recorded before that was looked for have nobody."""

    language: str | None
    stems: int
    fresh: int
    own: int
    marks: int
    met: int
    others: int
    typical: int
    gathered: int
    swallowed: int
    triples: int
    distinct_triples: int
    covered: int
    echo: bool
    code: bool
    ordered: bool
    listed: bool
    pairs: int
    order: int
    fit: int
    tokens: int
    distinct_tokens: int
    glue: int
    distinct_glue: int
    abstains: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "TextTraits":
        return cls(**given)


@dataclass(frozen=True, slots=True)
class FreshStems:
    """The stems of `each` answer that stand in no prompt, how many answers have `met` each of them, and how many two
    answers `share`."""

    each: Sequence[frozenset[str]]
    met: Mapping[str, int]
    share: NDArray[np.int64]

    @classmethod
    def of(cls, each: Sequence[frozenset[str]]) -> "FreshStems":
        met = Counter(stem for one in each for stem in one)
        places = {stem: place for place, stem in enumerate(stem for stem, times in met.items() if times > 1)}
        has = np.zeros((len(each), len(places)))
        for row, one in enumerate(each):
            has[row, [places[stem] for stem in one if stem in places]] = 1.0
        share = np.rint(has @ has.T).astype(np.int64)
        np.fill_diagonal(share, [len(one) for one in each])
        return cls(each, met, share)

    def find_swallowed(self, place: int) -> int:
        """How many others have nearly all of theirs in the answer at `place`."""
        sizes, shared = np.delete(np.diagonal(self.share), place), np.delete(self.share[place], place)
        return int(((sizes >= SWALLOWED_FROM) & (shared >= SWALLOWED * sizes)).sum())

    def find_typical(self, place: int) -> int:
        """How many stems the middle one of the others has."""
        sizes = np.sort(np.delete(np.diagonal(self.share), place))
        return int(sizes[(len(sizes) - 1) // 2]) if len(sizes) else 0


def find_traits(
    text: ParsedText, prompt: PromptTraits, kind: Kind, prose: bool, place: int, fresh: FreshStems
) -> TextTraits:
    """The traits of the answer at `place`."""
    own = fresh.each[place]
    gathered = sum(fresh.met[stem] > 1 for stem in own)
    language = text.language
    glue = list_glue(language)
    own_glue = [word for word in text.words if word in glue]
    tokens = text.clean.split()
    triples = [tuple(text.words[at : at + 3]) for at in range(len(text.words) - 2)]
    code = has_code(text.clean)
    read = cut_code(text.clean) if code or kind == "code" else text.clean
    order = read_order(read)
    return TextTraits(
        language=language,
        stems=len(text.telling),
        fresh=len(own),
        own=len(own - TALK),
        marks=sum(len(stem) >= STEM or has_digit(stem) for stem in own),
        met=int(np.count_nonzero(fresh.share[place])) - bool(own),
        others=len(fresh.met) - (len(own) - gathered),
        typical=fresh.find_typical(place),
        gathered=gathered,
        swallowed=fresh.find_swallowed(place),
        triples=len(triples),
        distinct_triples=len(set(triples)),
        covered=len(prompt.triples & text.triples),
        echo=text.words == prompt.words,
        code=code,
        ordered=_keeps_order(text, prompt, prose, language),
        listed=is_listed(read),
        pairs=order.pairs,
        order=round(1000 * order.z),
        fit=round(1000 * order.fit),
        tokens=len(tokens),
        distinct_tokens=len(set(tokens)),
        glue=len(own_glue),
        distinct_glue=len(set(own_glue)),
        abstains=abstains(text.clean, len(text.words)),
    )


def cut_code(clean: str) -> str:
    """Lines that are not code; a line of very many words never is code.

    >>> cut_code("It adds one:\\ndef f(x):\\n    return x + 1")
    'It adds one:'
    """
    return "\n".join(line for line in clean.splitlines() if not is_code_line(line))


def is_code_line(line: str) -> bool:
    return bool(CODE_SIGNS.search(line)) and len(find_words(line)) <= LONG_LINE


def is_listed(clean: str) -> bool:
    """Short lines, figures in lines of some length without the small words of sentences, or very many figures: one may
    stand nearly anywhere.

    >>> is_listed("The baker has 39 rolls left, because 12 times 8 is 96 and 96 minus 57 is 39.")
    True
    """
    lines = [find_words(line) for line in clean.splitlines()]
    words = [word for line in lines for word in line]
    longest = max(map(len, lines), default=0)
    figures = sum(map(has_digit, words))
    if longest < LIST_LINE or figures > FIGURES * len(words):
        return True
    bare = sum(word in FUNCTION_WORDS for word in words) <= LIST_GLUE * len(words)
    return bare and longest < DIGIT_LINE and figures > DIGITS * len(words)


def _keeps_order(text: ParsedText, prompt: PromptTraits, prose: bool, language: str | None) -> bool:
    """Is the order of words to be English? Not where a language is another for sure."""
    if not prose or is_spaceless(text.clean, text.words):
        return False
    return language == ENGLISH or (language is None and prompt.language in (None, ENGLISH))


def find_fresh(texts: Sequence[ParsedText], prompt: PromptTraits, kind: Kind) -> FreshStems:
    """In a short round denial counts as a stem, unless the question itself denies: those who say no agree, however
    they say it."""
    each = [text.telling - prompt.stems for text in texts]
    if kind == "short" and not denies(prompt.words):
        each = [own | {DENIAL} if denies(text.words) else own for text, own in zip(texts, each, strict=True)]
    return FreshStems.of(each)
