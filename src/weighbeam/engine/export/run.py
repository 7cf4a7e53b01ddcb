"""Export a journal to Parquet: everything since the last run, as one new part.

The journal is only read, as of one moment. Rows go to disk in groups, so memory does not grow with the journal: the
largest group and the largest round fit in it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, or_, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.export.parts import OTHER_FOLDER, ExportFolder, ExportState
from weighbeam.engine.export.rows import Values, list_entry_rows, make_submission_row
from weighbeam.engine.export.schema import FORMAT, TABLES, Kind
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.engine.journal.fold import RecordedEntry
from weighbeam.engine.journal.hash_chain import check_link, select_hash
from weighbeam.engine.rules.intents import UNSETTLED
from weighbeam.store import tables
from weighbeam.store.database import Store

if TYPE_CHECKING:
    import pyarrow

GROUP_ROWS, GROUP_CHARACTERS = 20_000, 8_000_000
"""Rows, or characters of text, at which a row group is written."""
MAX_WAITING = 10_000
"""A validator has one open submission per mechanism."""
OnProgress = Callable[[int, int], None]
SUBMISSIONS = tables.submissions.c


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The part that a run added, None if there was nothing new, and how far the export goes now."""

    part: Path | None
    state: ExportState


def export_journal(store: Store, folder: Path, on_progress: OnProgress = lambda *_: None) -> ExportResult:
    """Append to `folder` what the journal holds since the last run; `no_parquet` without pyarrow."""
    arrow = load_pyarrow()
    target = ExportFolder(folder)
    with target.hold() as before:
        try:
            with store.read() as connection, _Part(arrow, target.begin_draft()) as part:
                state = _write(connection, before, part, on_progress)
            if not any(part.rows.values()):
                return ExportResult(None, before)
            sizes = {name: path.stat().st_size for name, path in part.files.items()}
            state = replace(state, part=before.part + 1, rows=part.rows, bytes=sizes)
            return ExportResult(target.commit(state), state)
        finally:
            target.discard_draft()


def load_pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        told = "pyarrow, which writes Parquet files, is not installed"
        raise WeighbeamError("no_parquet", told, "pip install 'weighbeam[parquet]'") from None
    return pyarrow


def _write(connection: Connection, before: ExportState, part: "_Part", on_progress: OnProgress) -> ExportState:
    state = _find_start(connection, before)
    total = int(connection.scalar(select(func.max(tables.entries.c.sequence))) or 0) - state.entry
    for done, entry in enumerate(_walk(connection, state.entry, state.hash), 1):
        for name, row in list_entry_rows(entry):
            part.add(name, row)
        state = replace(state, entry=entry.sequence, hash=entry.hash)
        on_progress(done, total)
    return _write_submissions(connection, state, part)


def _find_start(connection: Connection, before: ExportState) -> ExportState:
    """Where to continue; entries that retention removed since are noted as missing."""
    hotkey = connection.scalar(select(tables.heads.c.hotkey).where(tables.heads.c.name == "journal"))
    checkpoint, known = select_checkpoint(connection), select_hash(connection, before.entry)
    removed = checkpoint is not None and checkpoint.sequence > before.entry
    same = known == before.hash or not before.entry or (known is None and removed)
    if not same or (before.hotkey and hotkey and before.hotkey != hotkey):
        told = "the folder holds the export of another journal, or of a later state of this one"
        raise WeighbeamError("export_differs", told, OTHER_FOLDER)
    state = replace(before, hotkey=hotkey or before.hotkey)
    if checkpoint is None or not removed:
        return state
    missing = (*before.missing, (before.entry + 1, checkpoint.sequence))
    return replace(state, entry=checkpoint.sequence, hash=checkpoint.hash, missing=missing)


def _walk(connection: Connection, last: int, previous: str) -> Iterator[RecordedEntry]:
    """Entries after `last`, each of which must follow from the one before."""
    columns = tables.entries.c
    query = select(tables.entries).where(columns.sequence > last).order_by(columns.sequence)
    for row in connection.execute(query.execution_options(yield_per=1000)):
        fault = check_link(row, previous, last + 1)
        if fault is not None:
            told = f"entry {row.sequence} of the journal: {fault}"
            raise WeighbeamError("bad_chain", told, "see weighbeam replay, and restore a backup")
        yield RecordedEntry(connection, row)
        last, previous = row.sequence, row.hash


def _write_submissions(connection: Connection, state: ExportState, part: "_Part") -> ExportState:
    """Each submission once, when its fate is known; those still open wait for a later run."""
    last, waiting = state.submission, list[int]()
    new = or_(SUBMISSIONS.id > state.submission, SUBMISSIONS.id.in_(state.waiting))
    query = select(tables.submissions).where(new).order_by(SUBMISSIONS.id)
    for row in connection.execute(query.execution_options(yield_per=1000)):
        last = max(last, row.id)
        if row.state in UNSETTLED:
            waiting.append(row.id)
        else:
            part.add("submissions", make_submission_row(row))
        if len(waiting) > MAX_WAITING:
            told = f"more than {MAX_WAITING} submissions are open, which no validator leaves behind"
            raise WeighbeamError("bad_record", told, "see weighbeam replay, and restore a backup")
    return replace(state, submission=last, waiting=tuple(waiting))


class _Part:
    """The files of a draft, one per table, and the rows that are not in a row group yet."""

    def __init__(self, arrow: Any, folder: Path) -> None:
        self._arrow, self._stack = arrow, ExitStack()
        self.files = {name: folder / f"{name}.parquet" for name in TABLES}
        self.rows = dict.fromkeys(TABLES, 0)
        self._waiting: dict[str, list[Values]] = {name: [] for name in TABLES}
        self._characters = dict.fromkeys(TABLES, 0)
        self._schemas = {name: make_schema(arrow, name) for name in TABLES}

    def __enter__(self) -> "_Part":
        with self._stack:
            self._writers = {
                name: self._stack.enter_context(
                    self._arrow.parquet.ParquetWriter(path, self._schemas[name], compression="zstd")
                )
                for name, path in self.files.items()
            }
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, kind: Any, *fault: Any) -> None:
        with self._stack:
            for name in TABLES if kind is None else ():
                self._flush(name)

    def add(self, name: str, row: Values) -> None:
        self._waiting[name].append(row)
        self.rows[name] += 1
        self._characters[name] += sum(len(value) for value in row if isinstance(value, str))
        if len(self._waiting[name]) >= GROUP_ROWS or self._characters[name] >= GROUP_CHARACTERS:
            self._flush(name)

    def _flush(self, name: str) -> None:
        rows, schema = self._waiting[name], self._schemas[name]
        if rows:
            arrays = [
                self._arrow.array(values, field.type)
                for values, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            self._writers[name].write_table(self._arrow.Table.from_arrays(arrays, schema=schema))
        self._waiting[name], self._characters[name] = [], 0


def make_schema(arrow: Any, name: str) -> "pyarrow.Schema":
    """Of one table, as every part of an export has it."""
    types: Mapping[Kind, Any] = {
        "whole": arrow.int64(),
        "number": arrow.float64(),
        "flag": arrow.bool_(),
        "text": arrow.string(),
        "json": arrow.string(),
        "texts": arrow.list_(arrow.string()),
        "wholes": arrow.list_(arrow.int64()),
    }
    fields = [arrow.field(one.name, types[one.kind], one.nullable, {"meaning": one.meaning}) for one in TABLES[name]]
    return arrow.schema(fields, {"weighbeam": FORMAT, "table": name})
