"""Text of strangers without what no eye sees: controls, direction marks, zero-width and half characters."""

import unicodedata

UNSEEN = frozenset({"Cc", "Cf", "Cs"})


def drop_unseen(text: str, keep: str = "\n\t") -> str:
    """The text without control, format and surrogate characters other than those in `keep`.

    >>> drop_unseen("a\\u202eb\\x1b[2J\\nc")
    'ab[2J\\nc'
    """
    return "".join(c for c in text if c in keep or unicodedata.category(c) not in UNSEEN)


def put_on_one_line(text: str) -> str:
    """Every run of white space as one blank, and nothing unseen.

    >>> put_on_one_line(" Why is\\r\\nthe \\u200bsky\\x00 blue?")
    'Why is the sky blue?'
    """
    return " ".join(drop_unseen(" ".join(text.split()), keep="").split())
