"""Lists an operator keeps: versioned files in a folder, reloaded when they change.

A file is `{list, version, effective, entries}`. One that is broken stops the start; it never means an empty list. What
more a file has to satisfy, such as a signature, is a check given from outside.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.ports.protocols import Listing

MAX_BYTES = 4 << 20
REMEDY = 'write {"list": NAME, "version": 1, "effective": "YYYY-MM-DD", "entries": [{"match": HOST}]}'

ListCheck = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ListFile:
    """One list file."""

    name: str
    effective: float
    listing: Listing


class FolderRulebook:
    """The `*.json` of a folder; without a folder every list is empty."""

    def __init__(
        self,
        folder: Path | None,
        extra_suffixes: tuple[str, ...] = (),
        now: Callable[[], float] = time.time,
        check: ListCheck | None = None,
    ) -> None:
        self.id = "lists" if folder is None else f"lists:{folder.name}"
        self.extra_suffixes = extra_suffixes
        self._kept = None if folder is None else load_lists(folder, check)
        self._now = now
        digests = sorted((kept.name, kept.listing.digest) for kept in self._kept or ())
        self.digest = digest_json([[*map(list, digests)], list(extra_suffixes)])

    def in_force(self, name: str, at: float | None = None) -> Listing:
        """The newest version whose time had come. A folder without one is `bad_list`: never an empty list."""
        if self._kept is None:
            return Listing(0, "", ())
        moment = self._now() if at is None else at
        due = [kept for kept in self._kept if kept.name == name and kept.effective <= moment]
        if not due:
            raise WeighbeamError("bad_list", f"no version of {name} is in effect", f"add one; {REMEDY}")
        return max(due, key=lambda kept: kept.listing.version).listing

    def newest(self) -> dict[str, int]:
        """The highest version there is of each list, in effect or not."""
        versions: dict[str, int] = {}
        for kept in self._kept or ():
            versions[kept.name] = max(kept.listing.version, versions.get(kept.name, kept.listing.version))
        return versions


def load_lists(folder: Path, check: ListCheck | None = None) -> list[ListFile]:
    """Every list file; `bad_list` if the folder or one of them cannot be read."""
    if not folder.is_dir():
        raise WeighbeamError("bad_list", f"{folder} is not a folder", "name the folder of the lists")
    return [load_list(path, check) for path in sorted(folder.glob("*.json"))]


def load_list(path: Path, check: ListCheck | None = None) -> ListFile:
    """Load a list file; `bad_list` if it is invalid, or the error of the check."""
    try:
        data = path.read_bytes()
        given: Any = json.loads(data) if len(data) <= MAX_BYTES else None
        name, version, entries = given["list"], given["version"], given["entries"]
        day = datetime.fromisoformat(given["effective"])
        effective = (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        raise WeighbeamError("bad_list", f"{path.name}: {type(fault).__name__} {fault}"[:200], REMEDY) from None
    sound = isinstance(name, str) and isinstance(version, int) and isinstance(entries, list)
    if not sound or not all(isinstance(entry, dict) and isinstance(entry.get("match"), str) for entry in entries):
        raise WeighbeamError("bad_list", f"{path.name} is not a list", REMEDY)
    if check is not None:
        try:
            check(given)
        except WeighbeamError as fault:
            raise WeighbeamError(fault.code, f"{path.name}: {fault.message}", fault.remedy) from None
    matches = tuple(entry["match"] for entry in entries)
    return ListFile(name, effective, Listing(version, hashlib.sha256(data).hexdigest(), matches, effective))


FolderStamp = tuple[tuple[str, int, int, int], ...]


def log_list_fault(fault: WeighbeamError) -> None:
    logging.getLogger("weighbeam").error("%s: %s | remedy: %s", fault.code, fault.message, fault.remedy)


class ReloadedLists:
    """The lists of a folder. With `only_newer`, versions of a list that go back are refused: a list that was signed
    once stays signed, and write access to the folder must not suffice to restore an old list."""

    def __init__(
        self,
        folder: Path | None,
        extra_suffixes: tuple[str, ...] = (),
        check: ListCheck | None = None,
        only_newer: bool = False,
    ) -> None:
        self._folder, self._extra_suffixes = folder, extra_suffixes
        self._check, self._only_newer = check, only_newer
        self._lock = threading.Lock()
        self._current: FolderRulebook | None = None
        self._stamp: FolderStamp | None = None

    @property
    def current(self) -> FolderRulebook:
        """The lists that are in use; what is wrong when they are first read is an error."""
        with self._lock:
            if self._current is None:
                stamp = stamp_folder(self._folder)
                self._current, self._stamp = self._read(), stamp
            return self._current

    def renew(
        self, on_fault: Callable[[WeighbeamError], None], on_renewed: Callable[[], None] | None = None
    ) -> FolderRulebook:
        """Reload the lists. An unusable file is reported once and changes nothing; changes are reported too."""
        before = self.current
        with self._lock:
            stamp = stamp_folder(self._folder)
            if stamp == self._stamp:
                return before
            self._stamp = stamp
            try:
                after = self._read()
                self._compare(before, after)
            except WeighbeamError as fault:
                on_fault(fault)
                return before
            self._current = after
            if on_renewed is not None:
                on_renewed()
            return after

    def _read(self) -> FolderRulebook:
        return FolderRulebook(self._folder, self._extra_suffixes, check=self._check)

    def _compare(self, before: FolderRulebook, after: FolderRulebook) -> None:
        """Every list is still there and in effect, and none has gone back if it may not."""
        versions = after.newest()
        for name, version in before.newest().items():
            after.in_force(name)
            if self._only_newer and versions[name] < version:
                told = f"{name} changed from version {version} back to {versions[name]}"
                raise WeighbeamError("bad_list", told, "give the list a higher version, and sign it")


def stamp_folder(folder: Path | None) -> FolderStamp:
    """Fingerprint that shows whether a folder's files changed; empty if it cannot be read."""
    try:
        found = [(path.name, path.stat()) for path in sorted(folder.glob("*.json"))] if folder else []
    except OSError:
        return ()
    return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in found)
