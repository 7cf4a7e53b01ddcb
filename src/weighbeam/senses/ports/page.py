"""Result of reading a page. Separate from the other ports, so that a parser's process need not load numpy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PageOutcome = Literal[
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
    """Result of reading a URL. The first hop is the URL as given, the last one the final URL, which may be the one
    that was refused. `full` is `text` with what the markup hides; spans are offsets in `text`; hashes are hex.
    `published` is when the page says it was published, in seconds of UTC; None unless it says so to the second."""

    outcome: PageOutcome
    hops: tuple[Hop, ...]
    title: str = ""
    headings: tuple[str, ...] = ()
    search_box: bool = False
    noindex: bool = False
    text: str = ""
    full: str = ""
    user_spans: tuple[tuple[int, int], ...] = ()
    date: str | None = None
    published: float | None = None
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
