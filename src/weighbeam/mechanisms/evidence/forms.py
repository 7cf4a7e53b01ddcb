"""What a token is compared by (spec § 6): its form, and the kind that says how strictly."""

import re
import unicodedata
from typing import Literal, TypeAlias

from weighbeam.core.nfc import to_nfkc
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.tokens import APOSTROPHES, MINUS, SYMBOLS, find_tokens

Kind: TypeAlias = Literal["number", "negation", "quantifier", "word"]

THOUSANDS = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
STRAIGHT = {ord(mark): "'" for mark in APOSTROPHES}
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


def take_form(token: str) -> str:
    """The form of a token as written, contractions in one piece; empty if nothing but apostrophes is left.

    >>> [take_form(token) for token in ("DON’T", "−1,200.5", "Straße")]
    ["don't", '-1200.5', 'strasse']
    """
    form = to_nfkc(token.casefold()).translate(STRAIGHT).strip("'")
    if form and (form[0] == MINUS or unicodedata.category(form[0]) == "Pd"):
        form = "-" + form[1:]
    return form.replace(",", "") if "," in form and THOUSANDS.fullmatch(form) else form


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


def read_words(clean: str) -> list[str]:
    """The forms of a cleaned text, contractions in one piece."""
    return [form for form in (take_form(clean[start:end]) for start, end in find_tokens(clean)) if form]


def read_forms(text: str) -> list[str]:
    """The forms of a text, whatever its typography.

    >>> read_forms("It doesn’t cost 12,500 €!")
    ['it', 'does', 'not', 'cost', '12500', '€']
    """
    return [form for word in read_words(clean_text(text)) for form in split_form(word)]


def tell_kind(form: str) -> Kind:
    """The kind of a form.

    >>> [tell_kind(form) for form in ("h2o", "%", "never", "most", "moon")]
    ['number', 'number', 'negation', 'quantifier', 'word']
    """
    if form in NEGATIONS:
        return "negation"
    if form in QUANTIFIERS:
        return "quantifier"
    if form in NUMBER_WORDS or _is_symbol(form) or any(unicodedata.category(c)[0] == "N" for c in form):
        return "number"
    return "word"


def has_letter(text: str) -> bool:
    """Whether a text holds a letter (L).

    >>> has_letter("x20"), has_letter("20 %")
    (True, False)
    """
    return any(unicodedata.category(c)[0] == "L" for c in text)


def is_letters(form: str) -> bool:
    """Whether a form is of letters and marks only."""
    return all(unicodedata.category(c)[0] in "LM" for c in form)


def _is_symbol(form: str) -> bool:
    return len(form) == 1 and (form in SYMBOLS or unicodedata.category(form) == "Sc")
