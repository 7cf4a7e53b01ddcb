"""Sentence splitters: built-in rules in two kinds, and NLTK's Punkt.

A sentence ends after `. ! ? …` and closing quotes or brackets when white space and something other than a lower-case
letter follow, but not after an initial or a known abbreviation; after `。！？` and closers; and at a blank line.
A full stop inside a number has no white space after it and so never ends one. `adaptive` lets a lower-case letter begin
a sentence where the text around has no capital letter.

NLTK fetches its data from the web at run time; this reads it from disk instead: from `WEIGHBEAM_PUNKT` (a folder that
holds `tokenizers/punkt_tab`), from the environment's own folder, which `weighbeam setup` fills, from NLTK's other usual
folders, or from a package that carries it, by path.
"""

import hashlib
import os
import re
import sys
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError

CLOSERS = "\"'”’»›)\\]}」』）】》〉"
BOUNDARY = re.compile(
    rf"[。！？]++[{CLOSERS}]*+"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++)[{CLOSERS}]*+(?=\s++(?P<next>\S))"
    r"|\n[^\S\n]*+\n\s*+"
)
WORD_BEFORE = re.compile(r"[^\W\d_](?:[^\W\d_]|\.(?=[^\W\d_]))*\Z")
INITIAL = re.compile(r"(?:\A|[\s.(\[{\"'“‘«-])[^\W\d_a-z]\Z")
LONGEST_ABBREVIATION = 12
PASSAGE = 300
"""Characters before and after a stop in which a cased text has a capital letter."""
DOTTED = re.compile(r"\.[^\W\d_]{1,3}\Z|(?:\A|\s)[^\W\d_]\Z")
"""Text before the stop of `p.m.` or of a single letter."""

ABBREVIATIONS = frozenset(
    """
    adm al approx apr art assn assoc asst aug ave bldg blvd brig bros ca capt cf ch col comdr co corp cpl dec
    dept dist div doc dr ed eds e.g eq eqs esp esq est etc ex exec ext feb fig figs fl fr fri ft gen gov govt hon
    hr hrs i.e inc incl ing inst int jan jr jul jun kg km lat lb lbs lit long ltd maj mar max med messrs mfg mgr
    min misc mm mme mon mr mrs ms msgr mt mts mus nat neg no nos nov nr oct op orig oz p pg ph.d pl pop pp prep
    pres prev prof pseud pt pub pvt qty rd ref reg rep res resp rev rm rpt rt sat sci sec sen sep sept ser sgt
    sp spec sq sr st sta ste subst sun supt surg tab tech tel temp thu thur thurs tr treas tue tues u.k u.s univ
    v viz vol vols vs wed yd yr yrs
    """.split()
)


class RuleSentences:
    """The built-in splitter."""

    id = "rules"
    digest = "rules-1"

    def split(self, text: str) -> list[str]:
        """Sentences of a text, white space at their ends removed, empty ones dropped.

        >>> RuleSentences().split('Dr. No left at 5.30 p.m. sharp. "Why?" asked J. Doe. 好。走')
        ['Dr. No left at 5.30 p.m. sharp.', '"Why?" asked J. Doe.', '好。', '走']
        """
        return _split(text, lambda _: False)


class AdaptiveSentences:
    """The same rules, and in a passage without capital letters a lower-case letter begins a sentence too."""

    id = "adaptive"
    digest = "adaptive-1"

    def split(self, text: str) -> list[str]:
        """Sentences of a text; how far a passage reaches is `PASSAGE`.

        >>> AdaptiveSentences().split("revenue rose. costs fell, e.g. rents. margins held at 5 p.m. sharp")
        ['revenue rose.', 'costs fell, e.g. rents.', 'margins held at 5 p.m. sharp']
        """
        capitals: list[int] | None = None

        def begins(match: re.Match[str]) -> bool:
            nonlocal capitals
            if capitals is None:
                capitals = [at for at, letter in enumerate(text) if letter.isupper()]
            at = match.start("stop")
            near = bisect_left(capitals, at + PASSAGE) - bisect_left(capitals, at - PASSAGE)
            return near == 0 and DOTTED.search(text, max(0, at - LONGEST_ABBREVIATION), at) is None

        return _split(text, begins)


def _split(text: str, begins: Callable[[re.Match[str]], bool]) -> list[str]:
    """The sentences of a text; `begins` says whether the lower-case letter after a stop begins one."""
    sentences: list[str] = []
    start = 0
    for match in BOUNDARY.finditer(text):
        if match["stop"] is not None and not _ends(text, match, begins):
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _ends(text: str, match: re.Match[str], begins: Callable[[re.Match[str]], bool]) -> bool:
    if match["next"].islower() and not begins(match):
        return False
    if match["stop"] != ".":
        return True
    at = match.start("stop")
    before = WORD_BEFORE.search(text[max(0, at - LONGEST_ABBREVIATION) : at])
    if before is None:
        return True
    word = before[0]
    initial = INITIAL.search(text[max(0, at - 2) : at]) is not None
    return not initial and word.lower() not in ABBREVIATIONS


CARRIER = "llama-index-core"
CARRIER_VERSION = "0.14.25"
CARRIER_FOLDER = "llama_index/core/_static/nltk_cache"
PUNKT_DATA = "tokenizers/punkt_tab/english"
PUNKT_SHA256 = "56e42ce8e87ce5653d8bc261e8100a2cc719fa51e3e66ef138dc54049733b4b6"
PUNKT_INSTALL = "weighbeam setup"
PUNKT_VARIABLE = "WEIGHBEAM_PUNKT"


class PunktSentences:
    """The Punkt splitter; its digest covers the program's version and the data."""

    id = "punkt"

    def __init__(self) -> None:
        try:
            import nltk
            from nltk.tokenize.punkt import PunktTokenizer
        except ImportError:
            raise _refuse_without_nltk() from None
        folder = find_punkt(nltk.data.path)
        nltk.data.path.insert(0, str(folder))
        self._tokenizer: Any = PunktTokenizer("english")
        self.digest = _name_punkt(nltk.__version__, folder)

    def split(self, text: str) -> list[str]:
        sentences: list[str] = self._tokenizer.tokenize(text)
        return sentences


def find_punkt_digest() -> str:
    """The splitter's digest without importing NLTK, which loads scientific packages where they are installed."""
    try:
        installed = version("nltk")
    except PackageNotFoundError:
        raise _refuse_without_nltk() from None
    return _name_punkt(installed, find_punkt(list_nltk_folders()))


def list_nltk_folders() -> list[str]:
    """Where NLTK looks for its data."""
    named = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    own = [str(Path(sys.prefix, *parts, "nltk_data")) for parts in ((), ("share",), ("lib",))]
    shared = [f"/usr/{part}/nltk_data" for part in ("share", "local/share", "lib", "local/lib")]
    return [*named, str(Path("~/nltk_data").expanduser()), *own, *shared]


def _name_punkt(installed: str, folder: Path) -> str:
    return f"punkt-nltk-{installed}-{_hash_folder(folder / PUNKT_DATA)[:16]}"


def _refuse_without_nltk() -> WeighbeamError:
    remedy = f"pip install 'weighbeam[punkt]' && {PUNKT_INSTALL}"
    return WeighbeamError("no_punkt", "the splitter punkt needs nltk", remedy)


def find_punkt(usual: list[str]) -> Path:
    """The folder that holds the Punkt data."""
    if named := os.environ.get(PUNKT_VARIABLE):
        if (Path(named) / PUNKT_DATA).is_dir():
            return Path(named)
        raise WeighbeamError(
            "no_punkt", f"{named} holds no {PUNKT_DATA}", f"name its folder in {PUNKT_VARIABLE}, or unset it"
        )
    candidates = [punkt_folder(), *map(Path, usual)]
    with suppress(PackageNotFoundError):
        candidates.append(Path(str(distribution(CARRIER).locate_file(CARRIER_FOLDER))))
    for folder in candidates:
        if (folder / PUNKT_DATA).is_dir():
            return folder
    raise WeighbeamError("no_punkt", "the data of the splitter punkt is not installed", PUNKT_INSTALL)


def punkt_folder() -> Path:
    """The folder of this environment, one of those where NLTK looks."""
    return Path(sys.prefix) / "nltk_data"


def check_punkt() -> str:
    """The data is there; and it is the known one, unless somebody chose another."""
    folder = find_punkt([])
    if os.environ.get(PUNKT_VARIABLE):
        return str(folder)
    if _hash_folder(folder / PUNKT_DATA) != PUNKT_SHA256:
        raise WeighbeamError("wrong_weights", "the data of the splitter punkt has an unexpected hash", PUNKT_INSTALL)
    return "installed, hash matches"


def _hash_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
