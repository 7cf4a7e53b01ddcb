"""Identity of a text: the form that case, spacing, invisible characters and Unicode spelling do not change."""

import unicodedata

from weighbeam.core.canonical import digest_text
from weighbeam.core.text import clean_text, drop_invisible, to_nfkc, to_nfkd

MAX_FOLDS = 4


def normalise_form(text: str) -> str:
    """NFKC, case folded, white space squeezed, format characters and all others that nobody sees removed.

    >>> normalise_form(" The\\u00a0ＣＡＴ\\u200b sat\\n") == normalise_form("the cat SAT") == "the cat sat"
    True
    """
    form = text
    for _ in range(MAX_FOLDS):
        folded = _fold(form)
        if folded == form:
            break
        form = folded
    return form


def digest_form(text: str) -> str:
    """By what a text is known, hex."""
    return digest_text(normalise_form(text))


def normalise_embedded(text: str) -> str:
    """A text as it is embedded: as contributed, in NFKC, without characters that nobody sees."""
    return drop_invisible(to_nfkc(text))


def find_control(text: str) -> str | None:
    """The first character no text has: a control other than tab and line ends, or half a character."""
    return next((c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r"), None)


def _fold(text: str) -> str:
    """Case is folded between two decompositions: folding a letter can move the marks on it."""
    return " ".join(drop_invisible(clean_text(to_nfkd(to_nfkd(text).casefold()))).split())
