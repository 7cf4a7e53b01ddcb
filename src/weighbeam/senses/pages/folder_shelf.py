"""Pages in a folder with an index, which says which page is in which file."""

from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.senses.pages.complete import READER_VERSION
from weighbeam.senses.pages.ends import Refused
from weighbeam.senses.pages.fetch import Fetched
from weighbeam.senses.pages.index import SavedPage, find_file, page_key, read_index
from weighbeam.senses.pages.limits import TEXT, Limits
from weighbeam.senses.pages.outcome import judge_answer
from weighbeam.senses.pages.place import read_place
from weighbeam.senses.ports import Hop


class FolderShelf:
    """Finds what a fetch would have brought."""

    def __init__(self, folder: Path) -> None:
        index = read_index(folder)
        for saved in index.pages:
            if saved.file is not None:
                find_file(folder, saved.file)
        self.digest = digest_json({"reader": READER_VERSION, "index": index.model_dump(mode="json")})
        self._folder = folder
        self._ages = index.ages
        self._pages = {page_key(saved.url): saved for saved in index.pages}
        self._most = Limits().body_bytes

    def find(self, url: str) -> Fetched | None:
        """None if it was not saved."""
        saved = self._pages.get(page_key(url))
        return None if saved is None else self._fetch(url, saved)

    def age_days(self, domain: str) -> float | None:
        """The age written for a domain, or for a page whose final host is in it."""
        if domain in self._ages:
            return self._ages[domain]
        return next((s.age_days for s in self._pages.values() if s.age_days is not None and _ends_in(s, domain)), None)

    def _fetch(self, url: str, saved: SavedPage) -> Fetched:
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
        return Fetched("read", hops, saved.content_type, saved.robots, body, date=saved.date)


def _ends_in(saved: SavedPage, domain: str) -> bool:
    final = saved.hops[-1].url if saved.hops else saved.url
    try:
        return f".{read_place(final).host}".endswith(f".{domain}")
    except Refused:
        return False
