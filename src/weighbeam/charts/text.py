"""Text that others chose, made fit for a picture."""

import unicodedata

DOT = "·"


def tame_text(text: str, limit: int) -> str:
    """At most this many characters, each with a shape of its own.

    Whatever steers, hides, stacks or breaks lines (controls, half characters, direction marks, accents without a
    letter) is shown as a dot, so that one label cannot change how another is drawn.

    >>> tame_text("a\\u202eb\\x00\\nc", 8), tame_text("5F3sa2TJ", 4)
    ('a·b··c', '5F3…')
    """
    whole = unicodedata.normalize("NFC", text[: 4 * limit])
    cut = whole if len(whole) <= limit and len(text) <= 4 * limit else whole[: limit - 1] + "…"
    return "".join(char if _has_shape(char) else DOT for char in cut)


def shorten_hotkey(hotkey: str, limit: int) -> str:
    """The first characters of a hotkey, without a sign that it goes on.

    >>> shorten_hotkey("5F3sa2TJAWMqDhXG6jhV4N8k", 8)
    '5F3sa2TJ'
    """
    return tame_text(hotkey[:limit], limit)


def _has_shape(char: str) -> bool:
    return char == " " or unicodedata.category(char)[0] not in "CMZ"
