"""Saved pages, in a folder or a WARC file: for demos, tests, replays. It opens no socket and reads as `live` does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from weighbeam.senses.adapters.pages.archive.folder import FolderPages
from weighbeam.senses.adapters.pages.archive.warc_pages import WarcPages, is_warc
from weighbeam.senses.adapters.pages.outcome import ReadRefused
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool, complete_page
from weighbeam.senses.adapters.pages.web.fetch import Fetched
from weighbeam.senses.adapters.pages.web.url import parse_page_url
from weighbeam.senses.ports.page import Hop, Page


class SavedPages(Protocol):
    """Where saved pages are."""

    @property
    def digest(self) -> str: ...

    def find(self, url: str) -> Fetched | None:
        """Find a saved page; None if the URL was not saved."""
        ...

    def age_days(self, domain: str) -> float | None: ...


class ArchivePages:
    """Reads saved pages by URL, and ages by domain. A URL that was not saved is unreachable, as a dead one is."""

    def __init__(self, place: Path, parsers: ParserPool | None = None) -> None:
        self._shelf: SavedPages = WarcPages(place) if is_warc(place) else FolderPages(place)
        self.id = f"archive:{place.name}"
        self.digest = self._shelf.digest
        self._parsers = parsers or ParserPool()

    def read(self, url: str) -> Page:
        try:
            parse_page_url(url)
        except ReadRefused as refusal:
            return Page("refused", (Hop(url),), fault=refusal.why)
        fetched = self._shelf.find(url)
        if fetched is None:
            return Page("unreachable", (Hop(url),), fault="not_saved")
        return complete_page(fetched, self._parsers)

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        pages = {url: self.read(url) for url in dict.fromkeys(urls)}
        return [pages[url] for url in urls]

    def age_days(self, domain: str) -> float | None:
        return self._shelf.age_days(domain)

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        return [self.age_days(domain) for domain in domains]

    def close(self) -> None:
        """End its processes."""
        self._parsers.close()
