"""Text: normal forms, invisible characters, lone surrogates, percent-escapes, words and sentences."""

import re
import string
import unicodedata
from itertools import groupby
from typing import Literal

SHORT_TEXT = 64


def to_nfc(word: str) -> str:
    """The NFC of a word, whatever its length.

    >>> to_nfc("e\\u0301") == "é"
    True
    """
    if word.isascii():
        return word
    if len(word) > SHORT_TEXT:
        word = _sort_marks(word, "NFD")
    return unicodedata.normalize("NFC", word)


def to_nfkc(text: str) -> str:
    """The NFKC of a text, whatever its length.

    >>> to_nfkc("ﬁ²e\\u0301") == "fi2é"
    True
    """
    if text.isascii():
        return text
    if len(text) > SHORT_TEXT:
        text = _sort_marks(text, "NFKD")
    return unicodedata.normalize("NFKC", text)


def to_nfkd(text: str) -> str:
    """The NFKD of a text, whatever its length.

    >>> to_nfkd("é") == "e\\u0301"
    True
    """
    return text if text.isascii() else _sort_marks(text, "NFKD")


def _sort_marks(word: str, form: Literal["NFD", "NFKD"]) -> str:
    """Decomposed, each run of marks stably sorted by combining class: an order the library leaves as it is."""
    letters = [part for character in word for part in unicodedata.normalize(form, character)]
    pieces: list[str] = []
    for _, run in groupby(letters, key=lambda letter: unicodedata.combining(letter) > 0):
        pieces += sorted(run, key=unicodedata.combining)
    return "".join(pieces)


def normalise_text(text: str) -> str:
    """Drop characters of category Cf, then NFKC; cleaning twice changes nothing.

    >>> normalise_text("so\\u00adft\\u200b ﬁle №1")
    'soft file No1'
    """
    if text.isascii():
        return text
    return to_nfkc("".join(c for c in text if c.isascii() or unicodedata.category(c) != "Cf"))


_INVISIBLE_RANGES = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
INVISIBLE = re.compile(f"[{_INVISIBLE_RANGES}]")


def drop_invisible(text: str) -> str:
    """
    >>> drop_invisible("o\u3164tt\u200der\u2800s")
    'otters'
    """
    return text if text.isascii() else INVISIBLE.sub("", text)


LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def has_lone_surrogate(text: str) -> bool:
    """Whether a text holds half a character.

    >>> has_lone_surrogate("plain"), has_lone_surrogate("\\ud800")
    (False, True)
    """
    return not text.isascii() and LONE_SURROGATE.search(text) is not None


UNRESERVED = string.ascii_letters + string.digits + "-._~"
SUB_DELIMS = "!$&'()*+,;="
IN_PATH = UNRESERVED + SUB_DELIMS + ":@/%"
IN_QUERY = IN_PATH + "?"

PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
NOT_IN_PATH = re.compile(f"[^{re.escape(IN_PATH)}]")
NOT_IN_QUERY = re.compile(f"[^{re.escape(IN_QUERY)}]")


def normalise_escapes(text: str) -> str:
    """Escaped unreserved characters decoded, other escapes in upper case, a stray `%` escaped: all in one pass, so
    that no new escape can come about.

    >>> normalise_escapes("c%7e%2fd%"), normalise_escapes("%%34%31")
    ('c~%2Fd%25', '%2541')
    """
    return PERCENT.sub(_normalise_escape, text)


def escape_path(text: str) -> str:
    """Escape characters that RFC 3986 forbids in a path; existing escapes are already normal.

    >>> escape_path("/é[%2F")
    '/%C3%A9%5B%2F'
    """
    return NOT_IN_PATH.sub(_escape, text)


def escape_query(text: str) -> str:
    """Likewise for a query, which may hold question marks."""
    return NOT_IN_QUERY.sub(_escape, text)


def decode_escapes(text: str) -> str:
    """Decode a text's escapes; bytes that are not UTF-8 become U+FFFD.

    >>> decode_escapes("Great%20Pyramid+%C3%A9")
    'Great Pyramid+é'
    """
    return ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


def remove_dot_segments(path: str) -> str:
    """RFC 3986, section 5.2.4, for an absolute path.

    >>> remove_dot_segments("/a/./b/../c"), remove_dot_segments("/a//b/.."), remove_dot_segments("/../x/.")
    ('/a/c', '/a//', '/x/')
    """
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _normalise_escape(found: re.Match[str]) -> str:
    if found[1] is None:
        return "%25"
    character = chr(int(found[1], 16))
    return character if character in UNRESERVED else found[0].upper()


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))


UNICODE_VERSION = unicodedata.unidata_version
MAX_SENTENCES = 64

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SENTENCE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+|(?<=[.!?。！？])\s+")


def clean_text(text: str) -> str:
    """NFKC, then without characters of category Cf.

    >>> clean_text("ﬁ\\u200bne")
    'fine'
    """
    if text.isascii():
        return text
    return "".join(c for c in to_nfkc(text) if c.isascii() or unicodedata.category(c) != "Cf")


def find_words(clean: str) -> list[str]:
    """The words of a clean text in lower case; a hyphen separates.

    >>> find_words("Don't re-use 450 nm_")
    ["don't", 're', 'use', '450', 'nm']
    """
    return WORD.findall(clean.lower())


def find_cased_words(clean: str) -> list[str]:
    """The words of a clean text as they are written."""
    return WORD.findall(clean)


def split_sentences(clean: str) -> list[str]:
    """The first 64 sentences of two words or more; of a text that has none, the whole.

    >>> split_sentences("1. It is so. Really?\\nIt is"), split_sentences("Paris."), split_sentences("…")
    (['It is so.', 'It is'], ['Paris.'], [])
    """
    pieces = (piece.strip() for piece in SENTENCE_BREAK.split(clean))
    found = [piece for piece in pieces if len(find_words(piece)) >= 2]
    if not found and WORD.search(clean.lower()):
        return [clean.strip()]
    return found[:MAX_SENTENCES]


FUNCTION_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do
    does down during each either for from had has have he her here him his how i if in into is it its itself
    just may me might more most must my neither no nor not now of off on once only or other our out over own
    same shall she should since so some such than that the their them then there therefore these they this those
    though through to too under until up upon us very was we were what when where whereas whether which while
    who whom whose why will with within without would you your
    """.split()
)


def count_noun(number: int, noun: str) -> str:
    """
    >>> count_noun(1, "voice"), count_noun(0, "voice")
    ('1 voice', '0 voices')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
