"""The folder of an export: finished parts, each with a manifest, and at most one draft.

    DIR/parts/000001/manifest.json, rounds.parquet, answers.parquet, …
    DIR/draft/

A part appears by one rename, after all its bytes are on disk. So a run that is interrupted at any point leaves the
parts before it whole and adds nothing to what a reader of `DIR/parts/*/rounds.parquet` sees. The newest manifest says
up to which entry the journal is exported.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_integer
from weighbeam.engine.export.schema import FORMAT, TABLES
from weighbeam.engine.journal.hash_chain import GENESIS

MANIFEST, PARTS, DRAFT, LOCK = "manifest.json", "parts", "draft", "lock"
OURS = {PARTS, DRAFT, LOCK}
MAX_MANIFEST = 1 << 22
OTHER_FOLDER = "export to a new folder"


@dataclass(frozen=True, slots=True)
class ExportState:
    """How far an export goes after a part: the last entry and its hash, the last submission, those that were still
    open, and the ranges of entries that retention removed before they were exported."""

    part: int = 0
    entry: int = 0
    hash: str = GENESIS
    hotkey: str | None = None
    submission: int = 0
    waiting: tuple[int, ...] = ()
    missing: tuple[tuple[int, int], ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)


class ExportFolder:
    """A folder that one run at a time writes to."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def hold(self) -> Iterator[ExportState]:
        """The state to continue from, while no other run can write; a draft that was left behind is removed."""
        with _wrap_faults(self.root):
            self._require_ours()
            (self.root / PARTS).mkdir(parents=True, exist_ok=True)
            with (self.root / LOCK).open("ab") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    told = f"another export writes to {self.root}"
                    raise WeighbeamError("export_busy", told, "wait until it ends") from None
                self.discard_draft()
                yield self.load_state()

    def begin_draft(self) -> Path:
        draft = self.root / DRAFT
        draft.mkdir()
        return draft

    def discard_draft(self) -> None:
        if (self.root / DRAFT).exists():
            shutil.rmtree(self.root / DRAFT)

    def commit(self, state: ExportState) -> Path:
        """Make the draft the next part: all of it is on disk before it has its name."""
        draft, part = self.root / DRAFT, self.root / PARTS / _name_part(state.part)
        written = json.dumps({"weighbeam": FORMAT, **asdict(state)}, indent=1, sort_keys=True)
        (draft / MANIFEST).write_text(f"{written}\n", "utf-8")
        for path in (*sorted(draft.iterdir()), draft):
            _sync(path)
        draft.rename(part)
        _sync(part.parent)
        _sync(self.root)
        return part

    def load_state(self) -> ExportState:
        """That of the newest part; `bad_export` if one is missing, incomplete or not ours."""
        names = sorted(path.name for path in (self.root / PARTS).iterdir())
        if names != [_name_part(number + 1) for number in range(len(names))]:
            raise _bad(self.root, "a part is missing, or there are other files among the parts")
        state = ExportState()
        for number, name in enumerate(names, 1):
            state = _load_manifest(self.root / PARTS / name)
            if state.part != number:
                raise _bad(self.root, f"{name} holds another part")
        return state

    def _require_ours(self) -> None:
        """A folder that holds something else is not written to."""
        if not self.root.exists():
            return
        if not self.root.is_dir():
            raise _bad(self.root, "it is a file")
        if {path.name for path in self.root.iterdir()} - OURS:
            raise _bad(self.root, "it holds other files than an export")


def _name_part(number: int) -> str:
    """
    >>> _name_part(7)
    '000007'
    """
    return f"{number:06d}"


def _load_manifest(part: Path) -> ExportState:
    try:
        with (part / MANIFEST).open("rb") as file:
            given: dict[str, Any] = json.loads(file.read(MAX_MANIFEST))
        if given.pop("weighbeam") != FORMAT:
            raise _bad(part, "another version of weighbeam wrote it")
        given["waiting"] = tuple(given["waiting"])
        given["missing"] = tuple((first, last) for first, last in given["missing"])
        state = ExportState(**given)
        sizes = {name: (part / f"{name}.parquet").stat().st_size for name in TABLES}
        sound = is_integer(state.entry, 0) and is_integer(state.submission, 0) and state.bytes == sizes
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise _bad(part, "its manifest or a file is missing or damaged")
    return state


def _bad(place: Path, why: str) -> WeighbeamError:
    return WeighbeamError("bad_export", f"{place} is not a folder to continue an export in: {why}", OTHER_FOLDER)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _wrap_faults(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        told = f"{root} cannot be written: {fault.strerror or fault}"
        raise WeighbeamError(
            "cannot_write", told, "check the path, its permissions and the space on its disk"
        ) from fault
