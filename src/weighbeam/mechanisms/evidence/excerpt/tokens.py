"""Where the tokens of a cleaned text are (spec § 6).

Each character is replaced by the letter of its class, so that one pattern over a plain alphabet finds the tokens.
"""

import re
import unicodedata
from bisect import bisect_right

CITATION = re.compile(r"\[\s*(?:\d{1,3}|note\s+\d{1,3}|citation\s+needed)\s*\]", re.IGNORECASE)
APOSTROPHES = "\u0027\u2019\u2018\u02bc\u0060\u2032"
SYMBOLS = "%‰<>=≠≤≥±+"
MINUS = "\u2212"

# Letters of scripts without spaces: first and last code point of each range.
SPACELESS = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
FIRSTS = [first for first, _ in SPACELESS]

# l letter, i letter of a script without spaces, m mark, d decimal digit, n other number, s symbol, h dash,
# a apostrophe, p point or comma, o opening bracket, w white space, c citation mark, x anything else
BY_CATEGORY = {"M": "m", "N": "n"}
BY_CHARACTER = {
    **dict.fromkeys(APOSTROPHES.replace("\u02bc", ""), "a"),
    **dict.fromkeys(".,", "p"),
    **dict.fromkeys("([", "o"),
    **dict.fromkeys(SYMBOLS, "s"),
    MINUS: "h",
}
TOKEN = re.compile(r"im*|s|(?:(?<![^wo])h(?=d))?[ldn][lmdn]*(?:(?:a(?=l)|(?<=d)p(?=d))[lmdn]+)*")


def find_tokens(clean: str) -> list[tuple[int, int]]:
    """First and behind-the-last offset of each token, contractions in one piece.

    >>> text = "It's [1] −3.5 % of (well-known) 1,200"
    >>> [text[start:end] for start, end in find_tokens(text)]
    ["It's", '−3.5', '%', 'of', 'well', 'known', '1,200']
    """
    classes = clean.translate({ord(character): classify(character) for character in set(clean)})
    if "[" in clean:
        classes = _skip_citations(clean, classes)
    return [found.span() for found in TOKEN.finditer(classes)]


def drop_citations(text: str) -> str:
    """The words of a passage without citation marks, as a model is to read them.

    >>> drop_citations("Paris[1] is[ 23 ] a city[citation needed]")
    'Paris is a city'
    """
    return CITATION.sub("", text)


def _skip_citations(clean: str, classes: str) -> str:
    pieces, done = [], 0
    for found in CITATION.finditer(clean):
        start, end = found.span()
        pieces += [classes[done:start], "c" * (end - start)]
        done = end
    return "".join([*pieces, classes[done:]])


def classify(character: str) -> str:
    """The letter of a character's class.

    >>> "".join(map(classify, "aé9Ⅷ中€—'. _"))
    'lldnishapwx'
    """
    if character in BY_CHARACTER:
        return BY_CHARACTER[character]
    category = unicodedata.category(character)
    if category[0] == "L":
        return "i" if _is_spaceless(ord(character)) else "l"
    if category in ("Nd", "Pd", "Sc"):
        return {"Nd": "d", "Pd": "h", "Sc": "s"}[category]
    if character.isspace():
        return "w"
    return BY_CATEGORY.get(category[0], "x")


def is_spaceless(token: str) -> bool:
    """Whether a token is a letter of a script without spaces: a character there, where others have a word.

    >>> is_spaceless("月"), is_spaceless("moon")
    (True, False)
    """
    return classify(token[0]) == "i"


def _is_spaceless(point: int) -> bool:
    place = bisect_right(FIRSTS, point) - 1
    return place >= 0 and point <= SPACELESS[place][1]
