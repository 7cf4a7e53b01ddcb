"""Pages from a folder: for demos, tests and replays. It opens no socket, and reads with the same code as `live`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.senses.pages.apart import Parsers
from weighbeam.senses.pages.complete import READER_VERSION, complete_page
from weighbeam.senses.pages.ends import Refused
from weighbeam.senses.pages.fetch import Fetched
from weighbeam.senses.pages.index import SavedPage, find_file, page_key, read_index
from weighbeam.senses.pages.limits import TEXT, Limits
from weighbeam.senses.pages.outcome import judge_answer
from weighbeam.senses.pages.place import read_place
from weighbeam.senses.ports import Hop, Page


class ArchivePages:
    """Reads saved pages by URL, and ages by domain. A URL that was not saved is unreachable, as a dead one is."""

    def __init__(self, folder: Path, parsers: Parsers | None = None) -> None:
        index = read_index(folder)
        for saved in index.pages:
            if saved.file is not None:
                find_file(folder, saved.file)
        self.id = f"archive:{folder.name}"
        self.digest = digest_json({"reader": READER_VERSION, "index": index.model_dump(mode="json")})
        self._folder = folder
        self._ages = index.ages
        self._pages = {page_key(saved.url): saved for saved in index.pages}
        self._parsers = parsers or Parsers()
        self._most = Limits().body_bytes

    def read(self, url: str) -> Page:
        try:
            read_place(url)
        except Refused as refusal:
            return Page("refused", (Hop(url),), fault=refusal.why)
        saved = self._pages.get(page_key(url))
        if saved is None:
            return Page("unreachable", (Hop(url),), fault="not_saved")
        page = complete_page(self._fetch(url, saved), self._parsers)
        return replace(page, date=saved.date) if saved.date is not None else page

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        pages = {url: self.read(url) for url in dict.fromkeys(urls)}
        return [pages[url] for url in urls]

    def age_days(self, domain: str) -> float | None:
        """The age written for a domain, or for a page whose final host is in it."""
        if domain in self._ages:
            return self._ages[domain]
        return next((s.age_days for s in self._pages.values() if s.age_days is not None and _ends_in(s, domain)), None)

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        return [self.age_days(domain) for domain in domains]

    def _fetch(self, url: str, saved: SavedPage) -> Fetched:
        """What a fetch would have brought."""
        hops = (
            Hop(url, saved.status, saved.address),
            *(Hop(hop.url, hop.status, hop.address) for hop in saved.hops),
        )
        outcome = saved.outcome or judge_answer(hops[-1].status or 0, saved.content_type, TEXT)
        if outcome != "read" or saved.file is None:
            return Fetched("empty" if outcome == "read" else outcome, hops, fault=saved.fault)
        try:
            body = find_file(self._folder, saved.file).read_bytes()
        except OSError:
            return Fetched("fault", hops, fault="disk")
        if len(body) > self._most:
            return Fetched("too_large", hops, fault="body")
        return Fetched("read", hops, saved.content_type, saved.robots, body)

    def close(self) -> None:
        """End its processes."""
        self._parsers.close()


def _ends_in(saved: SavedPage, domain: str) -> bool:
    final = saved.hops[-1].url if saved.hops else saved.url
    try:
        return f".{read_place(final).host}".endswith(f".{domain}")
    except Refused:
        return False
