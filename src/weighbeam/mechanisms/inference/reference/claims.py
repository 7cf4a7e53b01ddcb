"""Where an answer says what it comes to: after a mark such as *the answer is*, in bold, or at its end."""

import re
from collections.abc import Iterator, Sequence

from weighbeam.core.text import clean_text
from weighbeam.mechanisms.inference.reference.numerals import simplify_latex

MAX_READ = 8000
"""Characters from the end: no answer says later than that what it comes to."""
MARK = re.compile(
    r"####|\\boxed\s*\{|\b(?:final\s+|correct\s+|right\s+)?(?:answers?|result|solution)\b[^.\n:=]{0,60}?"
    r"(?:\s+(?:is|are|was|would\s+be|should\s+be|must\s+be|equals)\b|\s*[:=])|"
    r"\bI\s+(?:would\s+)?(?:choose|pick|go\s+(?:for|with))\b",
    re.IGNORECASE,
)
BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
MIXED = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
"""Between a whole number and its fraction, which NFKC would join: 1½ is not 11/2."""
END = re.compile(r"(?<=[.!?])\s+|\n+")
CONCLUDED = re.compile(r"\b(?:so|therefore|thus|hence|consequently)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
CLAUSE = re.compile(
    r"[,;!?\n()—–]|[.:](?=\s|$)|\b(?:but|so|because|since|while|whereas|therefore|thus|and\s+not|"
    r"rather\s+than|instead\s+of)\b",
    re.IGNORECASE,
)
NEGATION = re.compile(r"\b(?:not|never|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
SET_APART = re.compile(
    r"\b(?:and\s+not|rather\s+than|instead\s+of|than|except|without|unlike)(?:\s+(?:the|an?|by|to|for|in))*\s+$",
    re.IGNORECASE,
)
"""Just before what is not meant: *than the*, *instead of*."""
MAX_CLAUSE = 200


def prepare(text: str) -> str:
    """A text as answers are read from it."""
    return simplify_latex(clean_text(MIXED.sub(" ", text[-MAX_READ:])))


def find_tail(text: str) -> str | None:
    """Text after the last mark, without decoration; None if there is no mark.

    >>> find_tail("First 3 + 4 = 7. So the answer is: **7**.")
    '7.'
    """
    last = _find_last(MARK, text)
    return None if last is None else text[last.end() :].lstrip(" :*=\n\t").replace("*", "").replace("}", " ")


def find_conclusion(text: str) -> str | None:
    """Text after the last *so* or *therefore*, up to the end of its sentence.

    >>> find_conclusion("It was due at 9:30, so it leaves at 9:45. Good luck.")
    'it leaves at 9:45.'
    """
    last = _find_last(CONCLUDED, text)
    claims = [] if last is None else split_claims(text[last.end() :])
    return claims[0] if claims else None


def _find_last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def split_claims(text: str) -> list[str]:
    """Sentences and lines."""
    return [part.strip() for part in END.split(text) if part.strip()]


def find_bold(text: str) -> str | None:
    found = BOLD.findall(text)
    return found[-1] if found else None


def find_named(text: str, things: Sequence[Sequence[Sequence[str]]]) -> Iterator[int]:
    """The things that a text names, in order; of several that begin with the same word the longest one, and none that
    is denied.

    >>> list(find_named("It was not Bo but Ada Moor.", [[["ada"]], [["ada", "moor"]], [["bo"]]]))
    [1]
    """
    starts: dict[str, list[tuple[list[str], int]]] = {}
    for place, forms in enumerate(things):
        for form in forms:
            starts.setdefault(form[0], []).append((list(form), place))
    found = list(WORD.finditer(text))
    words = [one[0].lower() for one in found]
    at = 0
    while at < len(words):
        fitting = [(form, place) for form, place in starts.get(words[at], ()) if words[at : at + len(form)] == form]
        if not fitting:
            at += 1
            continue
        form, place = max(fitting, key=lambda one: len(one[0]))
        if not is_denied(text, found[at].start(), found[at + len(form) - 1].end()):
            yield place
        at += len(form)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether what stands there is set apart or denied: its clause has a *not* outside of it.

    >>> text = "It is not 41 but 42."
    >>> is_denied(text, 10, 12), is_denied(text, 17, 19)
    (True, False)
    """
    before, after = text[max(0, start - MAX_CLAUSE) : start], text[end : end + MAX_CLAUSE]
    if SET_APART.search(before[-40:]):
        return True
    opened = 0
    for boundary in CLAUSE.finditer(before):
        opened = boundary.end()
    closed = CLAUSE.search(after)
    clause = before[opened:], after[: closed.start()] if closed else after
    return any(NEGATION.search(part) for part in clause)
