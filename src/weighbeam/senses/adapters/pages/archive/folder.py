"""Pages saved in a folder with an index: read and recorded."""

import hashlib
import os
import threading
from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.senses.adapters.pages.archive.index import (
    INDEX,
    ArchiveIndex,
    SavedHop,
    SavedPage,
    load_index,
    locate_archive_file,
    page_key,
)
from weighbeam.senses.adapters.pages.limits import TEXT, PageLimits
from weighbeam.senses.adapters.pages.outcome import ReadRefused, judge_answer
from weighbeam.senses.adapters.pages.parsing.parsers import READER_VERSION
from weighbeam.senses.adapters.pages.web.fetch import Fetched
from weighbeam.senses.adapters.pages.web.url import parse_page_url
from weighbeam.senses.ports.page import Hop


class FolderPages:
    """Finds what a fetch would have brought."""

    def __init__(self, folder: Path) -> None:
        index = load_index(folder)
        for saved in index.pages:
            if saved.file is not None:
                locate_archive_file(folder, saved.file)
        self.digest = digest_json({"reader": READER_VERSION, "index": index.model_dump(mode="json")})
        self._folder = folder
        self._ages = index.ages
        self._pages = {page_key(saved.url): saved for saved in index.pages}
        self._most = PageLimits().body_bytes

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
            body = locate_archive_file(self._folder, saved.file).read_bytes()
        except OSError:
            return Fetched("fault", hops, fault="disk")
        if len(body) > self._most:
            return Fetched("too_large", hops, fault="body")
        return Fetched("read", hops, saved.content_type, saved.robots, body, date=saved.date)


def _ends_in(saved: SavedPage, domain: str) -> bool:
    final = saved.hops[-1].url if saved.hops else saved.url
    try:
        return f".{parse_page_url(final).host}".endswith(f".{domain}")
    except ReadRefused:
        return False


class FolderRecorder:
    """Adds to the archive in a folder, from any thread; a URL fetched again replaces what was there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        index = load_index(folder) if (folder / INDEX).exists() else ArchiveIndex()
        self._folder = folder
        self._lock = threading.Lock()
        self._pages = {page_key(saved.url): saved for saved in index.pages}
        self._ages = dict(index.ages)

    def keep(self, fetched: Fetched) -> None:
        """Keep one fetch: its way, its answer and its content."""
        first, *others = fetched.hops
        name = f"{hashlib.sha256(fetched.body).hexdigest()}.page" if fetched.outcome == "read" else None
        saved = SavedPage(
            url=first.url,
            hops=tuple(SavedHop(url=hop.url, status=hop.status, address=hop.address) for hop in others),
            status=first.status,
            address=first.address,
            content_type=fetched.content_type,
            robots=fetched.robots,
            file=name,
            outcome=fetched.outcome,
            fault=fetched.fault,
        )
        with self._lock:
            if name is not None:
                _save_whole(self._folder / name, fetched.body)
            self._pages[page_key(saved.url)] = saved
            self._save_index()

    def keep_age(self, domain: str, age_days: float | None) -> None:
        """Keep the age of a domain, as of now."""
        with self._lock:
            self._ages[domain] = age_days
            self._save_index()

    def close(self) -> None:
        """Nothing is left to do: the index is written with every page."""

    def _save_index(self) -> None:
        index = ArchiveIndex(pages=tuple(self._pages.values()), ages=self._ages)
        _save_whole(self._folder / INDEX, index.model_dump_json(indent=1, exclude_defaults=True).encode())


def _save_whole(path: Path, content: bytes) -> None:
    """All of it or nothing."""
    half = path.with_name(f"{path.name}.half")
    half.write_bytes(content)
    os.replace(half, path)
