"""Spelling undone before texts are compared: what a reader reads, whatever characters it is written in.

`normalise_spelling` gives the text to embed: HTML entities, look-alike letters of other alphabets, accents, digits for
letters and signs inside words are undone, and ordinary text stays as it is. `squeeze_letters` goes further, for
comparing letters alone: no spaces, no signs, no vowels, no doubled letters, and one letter for those that sound alike.
Runs of such letters are remembered as numbers, so that parts of a known text are found wherever they turn up.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from weighbeam.core.text import clean_text, drop_invisible, to_nfkc, to_nfkd
from weighbeam.mechanisms.novelty.plausibility import UNSPACED

MAX_ENTITIES = 3
NUMBERED = re.compile(r"&#([0-9]{9,})")
ENTITY_DIGITS = 8
"""Nine digits without leading zeros are not a character, and eight are not either; Python refuses to read thousands."""
LATIN = re.compile(r"[A-Za-z]")
LETTER = re.compile(r"[^\W\d_]")
TOKEN = re.compile(r"\S+")
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
LOOK_ALIKE = str.maketrans(
    dict(
        zip(
            "аɑαвсԁеёԍһнıіϳјкκӏмոпоοσрρԛѕтτսυѵνԝхχуүзьАΑВΒСЕΕНΗІΙЈКΚМΜΝОΟРΡЅТΤХΧУΥΖ",
            "aaabcdeeghhiijjkklmnnoooppqsttuuvvwxxyy3bAABBCEEHHIIJKKMMNOOPPSTTXXYYZ",
            strict=True,
        )
    )
)
SIGN_LETTERS = str.maketrans("0134578@$!|€", "oieastbasile")
SPACED = re.compile(r"(?<![^\W\d_])(?:[^\W\d_][ \t.·_*~-]{1,2}){3,}[^\W\d_](?![^\W\d_])")
"""Four letters or more, each alone."""
SIGNS_INSIDE = re.compile(r"(?<=[^\W\d_])[_*~·|^+=\\]+(?=[^\W\d_])")
CONSONANTS = str.maketrans({**dict.fromkeys("aeiouyhw"), **dict.fromkeys("cq", "k"), "z": "s"})
DOUBLED = re.compile(r"(.)\1+")


def normalise_spelling(text: str) -> str:
    """
    >>> normalise_spelling("Se&#97; 0tters h0ld h_a_n_d_s whіle they sl33p, at 5.30 on 3rd May")
    'Sea otters hold hands while they sleep, at 5.30 on 3rd May'
    """
    for _ in range(MAX_ENTITIES):
        undone = html.unescape(NUMBERED.sub(_shorten_number, text))
        if undone == text:
            break
        text = undone
    text = drop_invisible(to_nfkc(clean_text(text)))
    text = SPACED.sub(lambda found: "".join(LETTER.findall(found[0])), text)
    mixed = LATIN.search(text) is not None
    return TOKEN.sub(lambda found: _read_token(found[0], mixed), text)


def _shorten_number(found: re.Match[str]) -> str:
    """The same entity in at most eight digits."""
    return f"&#{found[1].lstrip('0')[:ENTITY_DIGITS] or '0'}"


def _read_token(token: str, mixed: bool) -> str:
    if token.isascii() and token.isalpha():
        return token
    if mixed and not token.isascii():
        token = _read_foreign(token)
    token = SIGNS_INSIDE.sub("", token)
    return _read_digits(token)


def _read_foreign(token: str) -> str:
    """Accents dropped from Latin letters; letters that look alike read as Latin where a Latin letter stands in the same
    word, or where there is nothing else; a text without any Latin letter is none of this."""
    bare = "".join(c for c in to_nfkd(token) if not unicodedata.combining(c)) if LATIN.search(token) else token
    read = bare.translate(LOOK_ALIKE)
    foreign = [c for c in read if not c.isascii() and c.isalpha()]
    return read if not foreign and LETTER.search(read) else unicodedata.normalize("NFC", bare)


def _read_digits(token: str) -> str:
    """A digit or sign between letters, or at the edge of a word with more letters than such signs, is a letter; `3rd`,
    `5kg`, `B2B`, `COVID19` and whatever begins or ends with two digits stay."""
    core = token.strip(".,;:?\"'()[]{}…“”‘’")
    body = core.rstrip("!")
    signs = sum(c in "0134578@$!|€" for c in body)
    letters = sum(c.isalpha() for c in body)
    if not signs or letters + signs != len(body) or letters < 2 or letters <= signs or body.isupper():
        return token
    if re.match(r"\d+(?:st|nd|rd|th|s|d|m|k|g|x|kg|km|cm|mm|am|pm|pc|hz|gb|mb|tb|ml|mg)\Z", body, re.IGNORECASE):
        return token
    if re.search(r"^\d\d|\d\d$|^[a-zA-Z]{1,2}\d$|^[A-Z][a-z]+\d$", body):
        return token
    return token.replace(body, body.translate(SIGN_LETTERS))


def find_plain_words(text: str) -> list[str]:
    """The words of a text whose spelling is undone, in lower case and without accents."""
    plain = "".join(c for c in to_nfkd(text) if not unicodedata.combining(c)) if not text.isascii() else text
    return [word.replace("’", "'").removesuffix("'s") for word in WORD.findall(plain.casefold())]


def squeeze_letters(text: str) -> str:
    """
    >>> squeeze_letters("Sea otters hold hands."), squeeze_letters("c otrs hhold.hns"), squeeze_letters("3 cats")
    ('strsldnds', 'ktrsldns', '3kts')
    """
    plain = "".join(c for c in to_nfkd(text) if not unicodedata.combining(c)) if not text.isascii() else text
    kept = "".join(c for c in plain.casefold() if c.isalnum()).replace("ph", "f")
    return DOUBLED.sub(r"\1", kept.translate(CONSONANTS))


RUN = 10
"""Squeezed letters in a run: about four words."""
KEPT_OF = 3
"""Of this many runs in a row at least one is kept, in any context."""
SHORT_RUN = 8
SURE_LETTERS = RUN + KEPT_OF - 1
"""A copy of this many squeezed letters certainly has a kept run; shorter texts are found by their words."""
TRIPLE = 3


def hash_runs(letters: str) -> list[int]:
    """A number for each run, in order; a text that is shorter is one run.

    >>> len(hash_runs("strsldnds")), len(hash_runs("strsldndstr")), hash_runs("")
    (1, 2, [])
    """
    if not letters:
        return []
    return [_hash_part(letters[at : at + RUN]) for at in range(max(1, len(letters) - RUN + 1))]


def hash_triples(words: Sequence[str]) -> list[int]:
    """A number for every three words in a row, in order; each letter of a script without spaces is a word.

    >>> len(hash_triples("sea otters hold hands".split())), len(hash_triples(["引力使潮"])), hash_triples(["a", "b"])
    (2, 2, [])
    """
    spelt = UNSPACED.sub(r" \g<0> ", " ".join(words)).split()
    return [_hash_part(" ".join(spelt[at : at + TRIPLE])) for at in range(len(spelt) - TRIPLE + 1)]


def _hash_part(part: str) -> int:
    """Squeezed letters have no spaces and three words have two: neither is ever taken for the other."""
    return int.from_bytes(blake2b(part.encode(), digest_size=8).digest(), "big", signed=True)


def keep_runs(hashes: list[int]) -> set[int]:
    """Runs to be remembered: the least of every three in a row, so that each copy of twelve letters has one.

    >>> sorted(keep_runs([5, 3, 4, 9, 8, 1])), keep_runs([7])
    ([1, 3, 4], {7})
    """
    return {min(hashes[at : at + KEPT_OF]) for at in range(max(1, len(hashes) - KEPT_OF + 1))} if hashes else set()


def count_known(letters: str, found: list[bool], texts: Iterable[str]) -> int:
    """How many letters are known: those in a run that was `found`, and those in a shorter run of one of `texts`, or all
    of a text that is shorter still.

    >>> count_known("strsldndstr", [False, False], ["xsldndstrx"]), count_known("abc", [True], [])
    (8, 3)
    """
    known = bytearray(len(letters))
    for at, hit in enumerate(found):
        if hit:
            known[at : at + RUN] = b"\1" * len(known[at : at + RUN])
    size = min(SHORT_RUN, len(letters))
    for text in texts:
        runs = {text[at : at + size] for at in range(len(text) - size + 1)}
        for at in range(len(letters) - size + 1):
            if letters[at : at + size] in runs:
                known[at : at + size] = b"\1" * size
    return sum(known)
