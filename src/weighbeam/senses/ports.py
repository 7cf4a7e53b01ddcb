"""What a mechanism may ask of the world while it observes. Implementations live beside this file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray


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


class Sentences(Sense, Protocol):
    """A text to its sentences."""

    def split(self, text: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Telling:
    """What a narrator is asked. `system` is ours; `data` holds what strangers wrote, and is never an instruction."""

    system: str
    data: str


class Narrator(Protocol):
    """Facts to prose. What it says is checked before it is shown, and is an input of nothing."""

    @property
    def id(self) -> str:
        """The name a user configures it by."""
        ...

    def tell(self, request: Telling) -> str:
        """Plain text within a minute; else `narrator_fault`."""
        ...


Outcome = Literal[
    "read",
    "gone",
    "blocked",
    "server_error",
    "unreachable",
    "too_large",
    "not_text",
    "unreadable",
    "empty",
    "refused",
    "fault",
]


@dataclass(frozen=True, slots=True)
class Hop:
    """One URL on the way to a page; `status` and `address` are None if it was not answered or not even asked."""

    url: str
    status: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What came of reading a URL. The first hop is the URL as given, the last one the final URL, which may be the one
    that was refused. `full` is `text` with what the markup hides; spans are offsets in `text`; hashes are hex."""

    outcome: Outcome
    hops: tuple[Hop, ...]
    title: str = ""
    headings: tuple[str, ...] = ()
    search_box: bool = False
    noindex: bool = False
    text: str = ""
    full: str = ""
    user_spans: tuple[tuple[int, int], ...] = ()
    date: str | None = None
    bytes: int = 0
    body_sha256: str | None = None
    text_sha256: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    fault: str | None = None

    @property
    def url(self) -> str:
        """The final URL."""
        return self.hops[-1].url

    @property
    def redirects(self) -> tuple[str, ...]:
        """The URLs after the one that was given, the final one last."""
        return tuple(hop.url for hop in self.hops[1:])


class Pages(Sense, Protocol):
    """URLs to pages. A failure is an outcome, never an exception."""

    def read(self, url: str) -> Page: ...

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        """One page per URL, in the order given; read side by side, equal URLs once."""
        ...


class Ages(Sense, Protocol):
    """How long domains have been registered."""

    def age_days(self, domain: str) -> float | None:
        """Days since a registered domain was registered; None if that cannot be known."""
        ...


class Senses(Protocol):
    """The senses of one validator, by what they do."""

    @property
    def embedder(self) -> Embedder: ...

    def sentences(self, name: str) -> Sentences:
        """The splitter called `name`; an unknown one is `unknown_splitter`."""
        ...
