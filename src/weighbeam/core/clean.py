"""Text as it is compared: invisible characters gone, one form per character."""

import unicodedata

from weighbeam.core.nfc import to_nfkc


def clean(text: str) -> str:
    """Drop characters of category Cf, then NFKC; cleaning twice changes nothing.

    >>> clean("so\\u00adft\\u200b ﬁle №1")
    'soft file No1'
    """
    if text.isascii():
        return text
    return to_nfkc("".join(c for c in text if c.isascii() or unicodedata.category(c) != "Cf"))
