"""Half characters: what JSON may carry and UTF-8 cannot write."""

import re

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def has_lone_surrogate(text: str) -> bool:
    """Whether a text holds half a character.

    >>> has_lone_surrogate("plain"), has_lone_surrogate("\\ud800")
    (False, True)
    """
    return not text.isascii() and LONE_SURROGATE.search(text) is not None
