"""Write what was fetched into an archive, so that it can be read again without a network."""

import hashlib
import os
import threading
from pathlib import Path

from weighbeam.senses.pages.fetch import Fetched
from weighbeam.senses.pages.index import INDEX, Index, SavedHop, SavedPage, page_key, read_index


class Recorder:
    """Adds to the archive in a folder, from any thread; a URL fetched again replaces what was there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        index = read_index(folder) if (folder / INDEX).exists() else Index()
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
                _write_whole(self._folder / name, fetched.body)
            self._pages[page_key(saved.url)] = saved
            self._write_index()

    def keep_age(self, domain: str, age_days: float | None) -> None:
        """Keep the age of a domain, as of now."""
        with self._lock:
            self._ages[domain] = age_days
            self._write_index()

    def close(self) -> None:
        """Nothing is left to do: the index is written with every page."""

    def _write_index(self) -> None:
        index = Index(pages=tuple(self._pages.values()), ages=self._ages)
        _write_whole(self._folder / INDEX, index.model_dump_json(indent=1, exclude_defaults=True).encode())


def _write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing."""
    half = path.with_name(f"{path.name}.half")
    half.write_bytes(content)
    os.replace(half, path)
