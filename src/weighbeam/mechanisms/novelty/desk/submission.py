"""Input of a desk and the quote it returns, with the checks of names and keys."""

import re
from dataclasses import dataclass

from weighbeam.core.errors import require
from weighbeam.mechanisms.novelty.facts import NoveltyFacts, Valuation
from weighbeam.mechanisms.novelty.identity import find_control
from weighbeam.mechanisms.novelty.measure import MeasuredText

MAX_NAME = 128
KEY = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(frozen=True, slots=True)
class NoveltySubmission:
    """A contribution ready for its turn; `measured` None if its text is known to be a duplicate already."""

    contributor: str
    key: str
    text_sha256: str
    form: str
    measured: MeasuredText | None
    imported: bool = False


@dataclass(frozen=True, slots=True)
class NoveltyQuote:
    """Pay that a text would get now; nothing is stored. `nearest` is None if there is nothing to compare with."""

    status: str
    micro: int
    nearest: int | None
    units: int
    doubts: tuple[str, ...]
    facts: NoveltyFacts | None = None
    value: Valuation | None = None

    @property
    def similarity(self) -> int:
        """The similarity that is paid for."""
        return self.micro if self.value is None else self.value.similarity

    def as_json(self) -> dict[str, object]:
        return {
            "status": self.status,
            "max_similarity": self.micro / 1_000_000,
            "similarity": self.similarity / 1_000_000,
            "nearest": self.nearest,
            "novelty": (1_000_000 - self.micro) / 1_000_000,
            "units": self.units,
            "held": self.status == "held",
            "doubts": list(self.doubts),
        }


def check_contributor(name: object) -> str:
    """An app's own name for a contributor: 1 to 128 characters, none of them a control."""
    sound = isinstance(name, str) and 0 < len(name) <= MAX_NAME and name == name.strip() and find_control(name) is None
    clean = sound and not set("\t\n\r") & set(str(name))
    require(clean, "bad_contributor", "this is not a contributor's id", "give 1 to 128 characters, no controls")
    return str(name)


def check_key(key: object) -> str:
    sound = isinstance(key, str) and KEY.fullmatch(key) is not None
    require(sound, "bad_key", "this is not an idempotency key", "give 1 to 128 characters of ASCII without blanks")
    return str(key)
