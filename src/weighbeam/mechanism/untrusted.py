"""Make text written by strangers safe to show or to hand to a model."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from weighbeam.core.errors import require

UNSEEN = frozenset({"Cc", "Cf", "Cs"})
NONCE = re.compile(r"[0-9a-f]{16}")
MAX_READ = 16_000
MAX_TEXT = 2000
MAX_FAULT = 200
MAX_CELL = 300


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


def describe_exception(fault: BaseException, limit: int = MAX_FAULT) -> str:
    """Class and message of an exception that code of a stranger raised: printable, on one line, and cut.

    >>> describe_exception(ValueError("no\\nnumber\\x1b[2J"))
    'ValueError: no number[2J'
    >>> describe_exception(KeyError())
    'KeyError'
    """
    name = type(fault).__name__
    try:
        said = put_on_one_line(str(fault)[: 4 * limit])
    except Exception:
        said = "its message cannot be shown"
    return (f"{name}: {said}" if said else name)[:limit]


def format_html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook, every cell escaped and cut.

    >>> format_html_table("two", ["a", "b"], [["<i>", "2"]])[-60:]
    '<tbody><tr><td>&lt;i&gt;</td><td>2</td></tr></tbody></table>'
    """
    first = "".join(f"<th>{_escape_cell(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_escape_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    top = f"<caption>{_escape_cell(caption)}</caption><thead><tr>{first}</tr></thead>"
    return f"<table>{top}<tbody>{body}</tbody></table>"


def _escape_cell(text: str) -> str:
    return escape(put_on_one_line(text[: 4 * MAX_CELL])[:MAX_CELL])


def check_nonce(nonce: str) -> None:
    require(NONCE.fullmatch(nonce) is not None, "bad_nonce", "a nonce is 16 hex digits", "draw 8 random bytes")


def make_inert(text: str, nonce: str, limit: int = MAX_TEXT) -> str:
    """A text without unseen characters and without the nonce, cut; what lies far behind the cut is not read.

    >>> make_inert("x 0123012345678\\x009abcdef456789ABCDEF y", "0123456789abcdef")
    'x  y'
    """
    return remove_nonce(drop_unseen(text[:MAX_READ]), nonce)[:limit]


def remove_nonce(text: str, nonce: str) -> str:
    """Every occurrence taken out, in either case, and every one that this would have joined together."""
    kept: list[str] = []
    for character in text:
        kept.append(character)
        if character.lower() == nonce[-1] and "".join(kept[-len(nonce) :]).lower() == nonce:
            del kept[-len(nonce) :]
    return "".join(kept)


def mark_block(name: str, text: str, nonce: str) -> str:
    """
    >>> print(mark_block("prompt", "Why?", "0123456789abcdef"))
    <<<begin prompt 0123456789abcdef>>>
    Why?
    <<<end prompt 0123456789abcdef>>>
    """
    return f"<<<begin {name} {nonce}>>>\n{text}\n<<<end {name} {nonce}>>>"
