"""Lists an operator keeps: files in a folder, versioned, of which the newest that is already in effect counts.

A file is `{list, version, effective, entries}`. One that is broken stops the start; it never means an empty list. What
more a file has to satisfy, such as a signature, is a check given from outside.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.ports import Listing

MOST_BYTES = 4 << 20
REMEDY = 'write {"list": NAME, "version": 1, "effective": "YYYY-MM-DD", "entries": [{"match": HOST}]}'

Check = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Kept:
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
        check: Check | None = None,
    ) -> None:
        self.id = "lists" if folder is None else f"lists:{folder.name}"
        self.extra_suffixes = extra_suffixes
        self._kept = None if folder is None else read_folder(folder, check)
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


def read_folder(folder: Path, check: Check | None = None) -> list[Kept]:
    """Every list file; `bad_list` if the folder or one of them cannot be read."""
    if not folder.is_dir():
        raise WeighbeamError("bad_list", f"{folder} is no folder", "name the folder of the lists")
    return [read_list(path, check) for path in sorted(folder.glob("*.json"))]


def read_list(path: Path, check: Check | None = None) -> Kept:
    """One list file; `bad_list` if it is none, or what the check says of it."""
    try:
        data = path.read_bytes()
        given: Any = json.loads(data) if len(data) <= MOST_BYTES else None
        name, version, entries = given["list"], given["version"], given["entries"]
        day = datetime.fromisoformat(given["effective"])
        effective = (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        raise WeighbeamError("bad_list", f"{path.name}: {type(fault).__name__} {fault}"[:200], REMEDY) from None
    sound = isinstance(name, str) and isinstance(version, int) and isinstance(entries, list)
    if not sound or not all(isinstance(entry, dict) and isinstance(entry.get("match"), str) for entry in entries):
        raise WeighbeamError("bad_list", f"{path.name} is no list", REMEDY)
    if check is not None:
        try:
            check(given)
        except WeighbeamError as fault:
            raise WeighbeamError(fault.code, f"{path.name}: {fault.message}", fault.remedy) from None
    matches = tuple(entry["match"] for entry in entries)
    return Kept(name, effective, Listing(version, hashlib.sha256(data).hexdigest(), matches, effective))
