"""Characters that no eye sees and a comparison must not be fooled by: Unicode's default-ignorable ones, and the blank
Braille cell, which looks like a space and is none."""

import re

_RANGES = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
UNSEEN = re.compile(f"[{_RANGES}]")


def drop_invisible(text: str) -> str:
    """
    >>> drop_invisible("o\u3164tt\u200der\u2800s")
    'otters'
    """
    return text if text.isascii() else UNSEEN.sub("", text)
