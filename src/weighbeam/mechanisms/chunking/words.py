"""Words of a text and where they stand (spec § 3).

Each character is mapped to a one-letter class, and one regular expression over the classes finds the words:

    s  letter of a script written without spaces     l  other letter, number, underscore
    m  mark                                           p  anything else        (blank)  white space
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from weighbeam.core.text import to_nfc

UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x30FF), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
WORD = re.compile("sm*|[lm]+|pm*")
UNICODE_VERSION = unicodedata.unidata_version


class _Classes(dict[int, str]):
    """Character classes by code point, filled as characters are met."""

    def __missing__(self, point: int) -> str:
        self[point] = kind = _classify(point)
        return kind


def _classify(point: int) -> str:
    if chr(point).isspace():
        return " "
    major = unicodedata.category(chr(point))[0]
    if major == "L" and any(first <= point <= last for first, last in UNSPACED):
        return "s"
    if major in "LN" or point == 0x5F:
        return "l"
    return "m" if major == "M" else "p"


CLASSES = _Classes()


@dataclass(frozen=True)
class Words:
    """The words of one text: their forms (NFC) and character offsets [start, end)."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @cached_property
    def forms(self) -> tuple[str, ...]:
        text = self.text
        words = [text[a:b] for a, b in zip(self.starts, self.ends, strict=True)]
        return tuple(words) if text.isascii() else tuple(map(to_nfc, words))

    def __len__(self) -> int:
        return len(self.starts)


def split_words(text: str) -> Words:
    """The words of a text, left to right.

    >>> split_words("Don't stop_now, 走吧。").forms
    ('Don', "'", 't', 'stop_now', ',', '走', '吧', '。')
    """
    spans = [match.span() for match in WORD.finditer(text.translate(CLASSES))]
    starts, ends = zip(*spans, strict=True) if spans else ((), ())
    return Words(text, starts, ends)
