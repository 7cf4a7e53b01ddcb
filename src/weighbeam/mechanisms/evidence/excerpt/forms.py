"""Forms: what tokens are compared by, the kinds that say how strictly, and runs of forms (spec § 6)."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from weighbeam.core.text import SHORT_TEXT, to_nfkc
from weighbeam.mechanisms.evidence.excerpt.text import clean_text
from weighbeam.mechanisms.evidence.excerpt.tokens import APOSTROPHES, MINUS, SYMBOLS, find_tokens

Kind: TypeAlias = Literal["number", "negation", "quantifier", "word"]

THOUSANDS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
STRAIGHT = {ord(mark): "'" for mark in APOSTROPHES}
LETTER_APOSTROPHE = "\u02bc"
BETWEEN = "\n"
CONTRACTIONS = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}
NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million billion"
    " trillion first second third percent".split()
)
NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor nowhere without hardly scarcely barely nicht kein keine keinen nie ne"
    " pas jamais aucun aucune nunca jamás sin não non mai не нет ни 不 没 沒 無 无 非 未 否".split()
)
QUANTIFIERS = frozenset(
    "all any some every each most many much few several both half only more less fewer least always often sometimes"
    " rarely seldom usually".split()
)
WORDS_OF: Mapping[Kind, frozenset[str]] = {
    "number": NUMBER_WORDS,
    "negation": NEGATIONS,
    "quantifier": QUANTIFIERS,
}


def take_form(token: str) -> str:
    """The form of a token as written, contractions in one piece; empty if nothing but apostrophes is left.

    >>> [take_form(token) for token in ("DON’T", "−1,200.5", "Straße")]
    ["don't", '-1200.5', 'strasse']
    """
    form = to_nfkc(token.casefold()).translate(STRAIGHT).strip("'")
    if form and (form[0] == MINUS or unicodedata.category(form[0]) == "Pd"):
        form = "-" + form[1:]
    return form.replace(",", "") if "," in form and THOUSANDS.fullmatch(form) else form


def take_forms(tokens: Sequence[str]) -> list[str]:
    """The forms of many tokens. Plain words, of which a page has most, are folded in one go.

    >>> take_forms(["Straße", "DON’T"])
    ['strasse', "don't"]
    """
    plain = [token for token in tokens if token.isalpha() and len(token) <= SHORT_TEXT]
    folded = unicodedata.normalize("NFKC", BETWEEN.join(plain).casefold())
    if LETTER_APOSTROPHE in folded:
        return [take_form(token) for token in tokens]
    known = dict(zip(plain, folded.split(BETWEEN), strict=True)) if plain else {}
    return [known[token] if token in known else take_form(token) for token in tokens]


def split_form(form: str) -> tuple[str, ...]:
    """The one or two forms a token counts as, none if it is empty.

    >>> split_form("doesn't"), split_form("cannot"), split_form("n't"), split_form("")
    (('does', 'not'), ('can', 'not'), ("n't",), ())
    """
    if form in CONTRACTIONS:
        return CONTRACTIONS[form]
    if form.endswith("n't") and len(form) > 3:
        return form[:-3], "not"
    return (form,) if form else ()


def is_split(form: str) -> bool:
    """Whether a token of this form counts as two, or as none."""
    return form in CONTRACTIONS or (form.endswith("n't") and len(form) > 3) or not form


def parse_words(clean: str) -> list[str]:
    """The forms of a cleaned text, contractions in one piece."""
    return [form for form in (take_form(clean[start:end]) for start, end in find_tokens(clean)) if form]


def parse_forms(text: str) -> list[str]:
    """The forms of a text, whatever its typography.

    >>> parse_forms("It doesn’t cost 12,500 €!")
    ['it', 'does', 'not', 'cost', '12500', '€']
    """
    return [form for word in parse_words(clean_text(text)) for form in split_form(word)]


def classify_form(form: str) -> Kind:
    """The kind of a form.

    >>> [classify_form(form) for form in ("h2o", "%", "never", "most", "moon")]
    ['number', 'number', 'negation', 'quantifier', 'word']
    """
    if form in NEGATIONS:
        return "negation"
    if form in QUANTIFIERS:
        return "quantifier"
    if form in NUMBER_WORDS:
        return "number"
    if form.isalpha():
        return "word"
    if _is_symbol(form) or any(unicodedata.category(c)[0] == "N" for c in form):
        return "number"
    return "word"


def find_kinds(numbered: Mapping[str, int], kinds: Collection[Kind]) -> list[int]:
    """The numbers of forms that are of these kinds, none of them `word`: only what has a sign in it is looked into.

    >>> find_kinds({"moon": 0, "never": 1, "h2o": 2, "most": 3}, ("number", "negation"))
    [1, 2]
    """
    words = [word for kind in kinds for word in WORDS_OF[kind]]
    found = [numbered[word] for word in words if word in numbered]
    if "number" in kinds:
        found += [n for form, n in numbered.items() if not form.isalpha() and classify_form(form) == "number"]
    return sorted(set(found))


def has_letter(text: str) -> bool:
    """Whether a text holds a letter (L).

    >>> has_letter("x20"), has_letter("20 %")
    (True, False)
    """
    return any(unicodedata.category(c)[0] == "L" for c in text)


def is_letters(form: str) -> bool:
    """Whether a form is of letters and marks only."""
    return form.isalpha() or all(unicodedata.category(c)[0] in "LM" for c in form)


def _is_symbol(form: str) -> bool:
    return len(form) == 1 and (form in SYMBOLS or unicodedata.category(form) == "Sc")


FORM_SEPARATOR = "\n"


def is_run(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether `short` is a run in `long`; no forms at all are a run in nothing.

    >>> is_run(["b", "c"], ["a", "b", "c"]), is_run(["a", "c"], ["a", "b", "c"]), is_run([], ["a"])
    (True, False, False)
    """
    return 0 < len(short) <= len(long) and _join(short) in _join(long)


def find_runs(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """Where in `long` the runs of `short` begin.

    >>> find_runs(["a", "a"], ["a", "a", "a", "b"])
    [0, 1]
    """
    size = len(short)
    if not is_run(short, long):
        return []
    return [i for i in range(len(long) - size + 1) if long[i] == short[0] and long[i : i + size] == short]


def _join(forms: Sequence[str]) -> str:
    """No form holds a line feed, so that a text search in C does the work."""
    return FORM_SEPARATOR + FORM_SEPARATOR.join(forms) + FORM_SEPARATOR
