"""Numbers as people write them: separators, fractions, percents, words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
SCALES = {"thousand": 1000, "million": 1_000_000}
MAX_DIGITS = 30
"""No answer is a longer number."""

_GROUPED = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:['’\u00a0\u202f ]\d{3})+(?!\d)(?:\.\d+)?"
_PLAIN = r"\d+(?:[.,]\d+)?|\.\d+"
NUMBER = re.compile(
    rf"(?<![\w.])(?P<sign>(?:minus|negative)\s+|[-−–](?=[\d.$€£]))?[$€£]?"
    rf"(?:(?:(?P<whole>\d+)\s+)?(?P<top>\d+)\s?[/⁄]\s?(?P<bottom>\d+)(?![/\d])|(?P<number>{_GROUPED}|{_PLAIN}))"
    rf"(?P<percent>\s?%|\s?per\s?cent\b)?",
    re.IGNORECASE,
)
LATEX = (
    (re.compile(r"\\d?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}"), r" \1/\2"),
    (re.compile(r"\\(?:,|!|;|%|\$|text\s*|mathrm\s*|left|right)"), lambda found: "%" if "%" in found[0] else ""),
    (re.compile(r"\{,\}"), ","),
)
_WORD = "|".join(sorted([*UNITS, *TENS, *SCALES, "hundred"], key=len, reverse=True))
SPELLED = re.compile(
    rf"\b(?P<sign>(?:minus|negative)\s+)?(?:{_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_WORD}))*\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AnswerNumber:
    """A number and where it stands."""

    value: Fraction
    percent: bool
    start: int
    end: int


def simplify_latex(text: str) -> str:
    r"""
    >>> simplify_latex(r"\frac{3}{4} and 1{,}250")
    ' 3/4 and 1,250'
    """
    for pattern, plain in LATEX:
        text = pattern.sub(plain, text)
    return text


def find_numbers(text: str) -> Iterator[AnswerNumber]:
    """Numbers in digits, from left to right.

    >>> [str(one.value) for one in find_numbers("1,250 m, 1 1/2, -0.5, $12.50, 3,5 and 20 %")]
    ['1250', '3/2', '-1/2', '25/2', '7/2', '20']
    """
    for found in NUMBER.finditer(text):
        value = _read(found)
        if value is not None:
            signed = -value if found["sign"] else value
            yield AnswerNumber(signed, found["percent"] is not None, found.start(), found.end())


def _read(found: "re.Match[str]") -> Fraction | None:
    if len(found[0]) > MAX_DIGITS:
        return None
    if found["top"]:
        bottom = int(found["bottom"])
        return Fraction(int(found["whole"] or 0)) + Fraction(int(found["top"]), bottom) if bottom else None
    number = re.sub(r"['’\u00a0\u202f ]", "", found["number"])
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", number):
        number = number.replace(",", "")
    return Fraction(number.replace(",", "."))


def find_spelled(text: str) -> Iterator[AnswerNumber]:
    """Numbers in words, up to millions.

    >>> [str(one.value) for one in find_spelled("minus seven, one hundred and five, twenty-three thousand")]
    ['-7', '105', '23000']
    """
    for found in SPELLED.finditer(text):
        value = _add_words(re.findall(rf"{_WORD}", found[0].lower()))
        if value is not None:
            yield AnswerNumber(Fraction(-value if found["sign"] else value), False, found.start(), found.end())


def _add_words(words: list[str]) -> int | None:
    total = part = 0
    for word in words:
        if word in UNITS:
            part += UNITS[word]
        elif word in TENS:
            part += TENS[word]
        elif word == "hundred":
            part = 100 * (part or 1)
        else:
            total, part = total + SCALES[word] * (part or 1), 0
    return total + part


def format_number(value: Fraction) -> str:
    """A short spelling of a number.

    >>> format_number(Fraction(7, 2)), format_number(Fraction(1, 3)), format_number(Fraction(12))
    ('3.5', '1/3', '12')
    """
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(value):.12g}" if rest == 1 else f"{value.numerator}/{value.denominator}"
