"""Where an answer says what it comes to: after a mark such as *the answer is*, in bold, or at its end."""

import re
from collections.abc import Iterator, Sequence

from weighbeam.core.text import clean_text
from weighbeam.mechanisms.inference.reference.numerals import simplify_latex

MAX_READ = 20_000
"""Characters from the end: no answer says later than that what it comes to."""
MARK = re.compile(
    r"####|\\boxed\s*\{|\b(?:final\s+|correct\s+|right\s+)?(?:answers?|result|solution)\b[^.\n:=]{0,60}?"
    r"(?:\s+(?:is|are|was|would\s+be|should\s+be|must\s+be|equals)\b|\s*[:=])|"
    r"\bI\s+(?:would\s+)?(?:choose|pick|go\s+(?:for|with))\b",
    re.IGNORECASE,
)
BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
END = re.compile(r"(?<=[.!?])\s+|\n+")
DENIED = frozenset("not than nor neither except without unlike isn't aren't wasn't".split())
SKIPPED = frozenset("the a an of by to for in".split())
"""Between a denial and what it denies: *instead of the*, *not by*."""


def prepare(text: str) -> str:
    """A text as answers are read from it."""
    return simplify_latex(clean_text(text[-MAX_READ:]))


def find_tail(text: str) -> str | None:
    """What follows the last mark, without decoration; None if there is no mark.

    >>> find_tail("First 3 + 4 = 7. So the answer is: **7**.")
    '7.'
    """
    last = None
    for last in MARK.finditer(text):
        pass
    return None if last is None else text[last.end() :].lstrip(" :*=\n\t").replace("*", "").replace("}", " ")


def split_claims(text: str) -> list[str]:
    """Sentences and lines."""
    return [part.strip() for part in END.split(text) if part.strip()]


def find_bold(text: str) -> str | None:
    found = BOLD.findall(text)
    return found[-1] if found else None


def find_named(words: Sequence[str], things: Sequence[Sequence[Sequence[str]]]) -> Iterator[int]:
    """The things that a text names, in order; of several that begin with the same word the longest one, and none that
    is denied.

    >>> list(find_named("not bo but ada moor".split(), [[["ada"]], [["ada", "moor"]], [["bo"]]]))
    [1]
    """
    starts: dict[str, list[tuple[Sequence[str], int]]] = {}
    for place, forms in enumerate(things):
        for form in forms:
            starts.setdefault(form[0], []).append((form, place))
    at = 0
    while at < len(words):
        fitting = [(form, place) for form, place in starts.get(words[at], ()) if list(words[at : at + len(form)]) == list(form)]
        if not fitting:
            at += 1
            continue
        form, place = max(fitting, key=lambda one: len(one[0]))
        if not _is_denied(words, at):
            yield place
        at += len(form)


def _is_denied(words: Sequence[str], at: int) -> bool:
    before = at - 1
    while before >= 0 and words[before] in SKIPPED:
        if words[before] == "of" and before and words[before - 1] == "instead":
            return True
        before -= 1
    return before >= 0 and words[before] in DENIED
