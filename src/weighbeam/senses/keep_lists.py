"""Lists that may change while a validator runs: read again when their files do, and kept as they were if that fails."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.rulebook import Check, FolderRulebook

Stamp = tuple[tuple[str, int, int, int], ...]


def log_fault(fault: WeighbeamError) -> None:
    logging.getLogger("weighbeam").error("%s: %s | remedy: %s", fault.code, fault.message, fault.remedy)


class KeptLists:
    """The lists of a folder. With `only_newer`, versions of a list that go back are refused: a list that was signed
    once stays signed, and whoever can put the old file there must not be able to undo the new one."""

    def __init__(
        self,
        folder: Path | None,
        extra_suffixes: tuple[str, ...] = (),
        check: Check | None = None,
        only_newer: bool = False,
    ) -> None:
        self._folder, self._extra_suffixes = folder, extra_suffixes
        self._check, self._only_newer = check, only_newer
        self._lock = threading.Lock()
        self._current: FolderRulebook | None = None
        self._stamp: Stamp | None = None

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
        """The lists as their files are now. What cannot be used is told once, and changes nothing; so is a change."""
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
                told = f"{name} went back from version {version} to {versions[name]}"
                raise WeighbeamError("bad_list", told, "give what is to hold a higher version, and sign it")


def stamp_folder(folder: Path | None) -> Stamp:
    """What tells whether a folder's files have changed; empty if it cannot be read."""
    try:
        found = [(path.name, path.stat()) for path in sorted(folder.glob("*.json"))] if folder else []
    except OSError:
        return ()
    return tuple((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in found)
