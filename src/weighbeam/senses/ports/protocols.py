"""Protocols of what a mechanism may ask of the world while it observes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.ports.page import Hop as Hop
from weighbeam.senses.ports.page import Page as Page


class Sense(Protocol):
    """Anything that observes: named and versioned, so that every observation says by what it was made."""

    @property
    def id(self) -> str:
        """The name a user configures it by."""
        ...

    @property
    def digest(self) -> str:
        """Changes whenever the same input may give another output."""
        ...


class Embedder(Sense, Protocol):
    """Texts to unit vectors."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n, dimensions) integers in millionths; a text's row does not depend on the other texts."""
        ...


class WordPieces(Sense, Protocol):
    """Texts to the pieces of words that an embedder reads."""

    @property
    def window(self) -> int:
        """How many pieces of a text the default embedder reads."""
        ...

    @property
    def unknown(self) -> int:
        """The number of the piece for unknown text."""
        ...

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """The piece numbers of each text, all of them."""
        ...


class Entailment(Sense, Protocol):
    """Whether a premise contradicts a hypothesis, leaves it open, or entails it."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths for pairs of (premise, hypothesis): contradiction, neutral, entailment.

        Each row adds up to exactly 1,000,000 and does not depend on the other pairs.
        """
        ...


class Sentences(Sense, Protocol):
    """A text to its sentences."""

    def split(self, text: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class NarrationRequest:
    """Request to a narrator. `system` is ours; `data` holds texts of strangers, which are never instructions."""

    system: str
    data: str


class Narrator(Protocol):
    """Facts to prose. What it says is checked before it is shown, and is an input of nothing."""

    @property
    def id(self) -> str:
        """The name a user configures it by."""
        ...

    def tell(self, request: NarrationRequest) -> str:
        """Plain text within a minute; else `narrator_fault`."""
        ...


class Assessor(Sense, Protocol):
    """A second opinion on a snippet by a language model, which can reject and never accept."""

    def assess(self, request: NarrationRequest) -> str:
        """The model's raw reply within its deadline.

        `assessor_fault` if there is none; where asking again is of no use, `assessor_timeout` or `assessor_filtered`.
        """
        ...


class Sentiment(Sense, Protocol):
    """The emotional tone of a text."""

    def feel(self, text: str) -> float:
        """From −1 to 1."""
        ...


class Pages(Sense, Protocol):
    """URLs to pages. A failure is an outcome, never an exception."""

    def read(self, url: str) -> Page: ...

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        """One page per URL, in the order given; read side by side, equal URLs once, within a deadline for all."""
        ...


class Ages(Sense, Protocol):
    """How long domains have been registered."""

    def age_days(self, domain: str) -> float | None:
        """Days since a registered domain was registered; None if that cannot be known."""
        ...

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        """One age per domain, in the order given; asked side by side, within a deadline for all."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """A list in force: its entries, by which version and content it is known, and since when it is to be used."""

    version: int
    digest: str
    entries: tuple[str, ...]
    effective: float | None = None


class Rulebook(Sense, Protocol):
    """Lists an operator keeps, such as domains nobody may quote."""

    @property
    def extra_suffixes(self) -> tuple[str, ...]:
        """Suffixes that count as public in addition to the public suffix list."""
        ...

    def in_force(self, name: str, at: float | None = None) -> Listing:
        """The newest version of a list whose time had come `at` that moment of UTC, None for now."""
        ...


class ObservationClock(Protocol):
    """Clock of an observation. Its values never enter a score."""

    def seconds(self) -> float:
        """From some moment on; never goes back."""
        ...

    def utc(self) -> float:
        """Since 1970, as far as this machine knows."""
        ...

    def sleep(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class ForgeryChecks:
    """How far a validator goes to catch pages that were forged: read them again after so many seconds, and refuse those
    that say they were published after the task was sent. None of it by default."""

    second_read_seconds: float | None = None
    made_for_task: bool = False


class Senses(Protocol):
    """The senses of one validator, by what they do."""

    @property
    def doubts(self) -> ForgeryChecks: ...

    @property
    def clock(self) -> ObservationClock: ...

    @property
    def second_pages(self) -> Pages | None:
        """Pages as seen from another address, for second reads; None if there is only `pages`."""
        ...

    @property
    def embedder(self) -> Embedder: ...

    @property
    def word_pieces(self) -> WordPieces: ...

    @property
    def entailment(self) -> Entailment: ...

    @property
    def pages(self) -> Pages: ...

    @property
    def ages(self) -> Ages: ...

    @property
    def rulebook(self) -> Rulebook: ...

    @property
    def sentiment(self) -> Sentiment: ...

    @property
    def assessor(self) -> Assessor | None: ...

    def sentences(self, name: str) -> Sentences:
        """The splitter called `name`; an unknown one is `unknown_splitter`."""
        ...


@runtime_checkable
class RenewableSenses(Protocol):
    """Further methods of senses that may change while a validator runs."""

    def renew(self) -> Senses:
        """The senses of the round that begins: what they are made of stays the same for all of it."""
        ...
