"""The web of the evidence world: archived pages, a content farm's among them, each parsed once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive
from weighbeam.senses.adapters.lists import FolderRulebook
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.local import RoundSenses
from weighbeam.senses.ports.page import Page
from weighbeam.senses.ports.protocols import Ages, Pages, Senses

EDITION = "?edition="
"""Query that may follow any address, with a number: servers ignore unknown queries and show the same page."""


def find_farm() -> Path:
    """The folder of pages that were written for no other purpose than to be quoted."""
    return Path(str(files("weighbeam.mechanisms.evidence.lab") / "farm"))


class SavedWeb:
    """Several archives as one; whatever was read once is remembered. Of an URL's or a domain's archives the first that
    has it counts."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._archives = [ArchivePages(folder) for folder in folders]
        self.id = "+".join(archive.id for archive in self._archives)
        self.digest = digest_json([archive.digest for archive in self._archives])
        self._read: dict[str, Page] = {}

    def read(self, url: str) -> Page:
        address, edition, _ = url.partition(EDITION)
        if address not in self._read:
            pages = [archive.read(address) for archive in self._archives]
            self._read[address] = next((page for page in pages if page.fault != "not_saved"), pages[0])
        page = self._read[address]
        return replace(page, hops=(*page.hops[:-1], replace(page.hops[-1], url=url))) if edition else page

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        return [self.read(url) for url in urls]

    def age_days(self, domain: str) -> float | None:
        ages = [archive.age_days(domain) for archive in self._archives]
        return next((age for age in ages if age is not None), None)

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        return [self.age_days(domain) for domain in domains]


@dataclass(frozen=True, slots=True)
class WebSenses(RoundSenses):
    """The machine's models, over a web of its own."""

    web: SavedWeb

    @property
    def pages(self) -> Pages:
        return self.web

    @property
    def ages(self) -> Ages:
        return self.web


def open_web(machine: Senses) -> WebSenses:
    """The senses of the evidence world."""
    web = SavedWeb([find_archive(), find_farm()])
    return WebSenses(machine, FolderRulebook(find_archive() / "lists", BANK_SUFFIXES), web)
