"""`punkt`: NLTK's Punkt with its own English data, the splitter of the seed.

NLTK fetches its data from the web at run time; this reads it from disk instead: from `WEIGHBEAM_PUNKT` (a folder that
holds `tokenizers/punkt_tab`), from the environment's own folder, which `weighbeam setup` fills, from NLTK's other usual
folders, or from a package that carries it, by path.
"""

import hashlib
import os
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError

CARRIER = "llama-index-core"
CARRIER_VERSION = "0.14.25"
CARRIER_FOLDER = "llama_index/core/_static/nltk_cache"
DATA = "tokenizers/punkt_tab/english"
DATA_SHA256 = "56e42ce8e87ce5653d8bc261e8100a2cc719fa51e3e66ef138dc54049733b4b6"
INSTALL = "weighbeam setup"
VARIABLE = "WEIGHBEAM_PUNKT"


class PunktSentences:
    """The Punkt splitter; its digest covers the program's version and the data."""

    id = "punkt"

    def __init__(self) -> None:
        try:
            import nltk
            from nltk.tokenize.punkt import PunktTokenizer
        except ImportError:
            raise WeighbeamError(
                "no_punkt", "the splitter punkt needs nltk", f"pip install 'weighbeam[punkt]' && {INSTALL}"
            ) from None
        folder = find_data(nltk.data.path)
        nltk.data.path.insert(0, str(folder))
        self._tokenizer: Any = PunktTokenizer("english")
        self.digest = f"punkt-nltk-{nltk.__version__}-{_hash_folder(folder / DATA)[:16]}"

    def split(self, text: str) -> list[str]:
        sentences: list[str] = self._tokenizer.tokenize(text)
        return sentences


def find_data(usual: list[str]) -> Path:
    """The folder that holds the Punkt data."""
    if named := os.environ.get(VARIABLE):
        if (Path(named) / DATA).is_dir():
            return Path(named)
        raise WeighbeamError("no_punkt", f"{named} holds no {DATA}", f"name its folder in {VARIABLE}, or unset it")
    candidates = [own_folder(), *map(Path, usual)]
    with suppress(PackageNotFoundError):
        candidates.append(Path(str(distribution(CARRIER).locate_file(CARRIER_FOLDER))))
    for folder in candidates:
        if (folder / DATA).is_dir():
            return folder
    raise WeighbeamError("no_punkt", "the data of the splitter punkt is not installed", INSTALL)


def own_folder() -> Path:
    """The folder of this environment, one of those where NLTK looks."""
    return Path(sys.prefix) / "nltk_data"


def check_data() -> str:
    """The data is there; and it is the known one, unless somebody chose another."""
    folder = find_data([])
    if os.environ.get(VARIABLE):
        return str(folder)
    if _hash_folder(folder / DATA) != DATA_SHA256:
        raise WeighbeamError("wrong_weights", "the data of the splitter punkt is not the known one", INSTALL)
    return "there, hash matches"


def _hash_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
