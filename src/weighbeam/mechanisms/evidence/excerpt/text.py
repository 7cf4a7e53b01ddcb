"""Clean a text and split it into sentences and passages (spec § 6)."""

import re
import unicodedata
from itertools import pairwise

from weighbeam.core.text import to_nfkc


def clean_text(text: str) -> str:
    """Without characters of category Cf, then NFKC. All offsets are code points of the result.

    >>> clean_text("inter\\u00adnational ﬁ\\u200bsh")
    'international fish'
    """
    if text.isascii():
        return text
    distinct = set(text)
    unseen = {ord(c): None for c in distinct if unicodedata.category(c) == "Cf"}
    if unseen:
        text = text.translate(unseen)
    # Most pages come cleaned. A text whose marks are out of order is told at once, so that none takes long to check.
    if unicodedata.is_normalized("NFKC", text):
        return text
    if not any(map(_begins_with_mark, distinct)):
        return unicodedata.normalize("NFKC", text)
    # A space composes with nothing, so that pieces may be normalised alone; few are long enough to take the slow path.
    return " ".join(map(to_nfkc, text.split(" ")))


def _begins_with_mark(character: str) -> bool:
    """Whether many of them in a row would make the library sort a long run of marks."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


END = re.compile(r"[.!?](?!\S)|。|\n")
WINDOW = 3


def find_ends(clean: str, start: int = 0, end: int | None = None) -> list[int]:
    """Offsets behind each sentence end between two offsets.

    >>> find_ends("Mr. X has 3.5 apples. Yes\\nNo")
    [3, 21, 26]
    """
    stop = len(clean) if end is None else min(end, len(clean))
    # One character more is looked at, because it decides whether a full stop ends anything.
    found = (match.end() for match in END.finditer(clean, start, min(stop + 1, len(clean))))
    return [offset for offset in found if offset <= stop]


def split_sentences(clean: str) -> list[tuple[int, int]]:
    """Offsets of the sentences, which leave no gap.

    >>> split_sentences("One. Two"), split_sentences("")
    ([(0, 4), (4, 8)], [])
    """
    bounds = [0, *find_ends(clean)]
    if bounds[-1] < len(clean):
        bounds.append(len(clean))
    return list(pairwise(bounds))


def list_passages(clean: str) -> list[str]:
    """Passages of an excerpt whose highest cosine is its similarity: sentences, windows of three, the whole.

    >>> list_passages("One. Two. Three. Four.")
    ['One.', 'Two.', 'Three.', 'Four.', 'One. Two. Three.', 'Two. Three. Four.', 'One. Two. Three. Four.']
    """
    spans = split_sentences(clean)
    windows = [(spans[i][0], spans[i + WINDOW - 1][1]) for i in range(len(spans) - WINDOW + 1)]
    texts = [clean[start:end].strip() for start, end in [*spans, *windows, (0, len(clean))]]
    return list(dict.fromkeys(text for text in texts if text))
