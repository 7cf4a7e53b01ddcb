"""What a WARC file holds, by URL: answers, revisits of answers, and notes of our own."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.pages.ends import Ended
from weighbeam.senses.pages.index import page_key
from weighbeam.senses.pages.saved_answer import BLANK, MOST_HEAD, read_head
from weighbeam.senses.pages.warc import REMEDY, Record, WarcFile, Where
from weighbeam.senses.ports import Outcome

NOTE = "application/vnd.weighbeam.page+json"
MOST_NOTE = 1 << 20
NOT_MODIFIED = 304


class Note(BaseModel):
    """What a metadata record of ours says of its URL where the answer does not, and of domains."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    outcome: Outcome | None = None
    fault: str | None = None
    ages: dict[str, float | None] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Saved:
    """One URL: where its status and headers are and where its body is, and what is noted of it."""

    head: Where | None
    body: Where | None
    address: str | None = None
    note: Note = field(default_factory=Note)


class WarcIndex:
    """Built record by record; the last answer to a URL counts."""

    def __init__(self, file: WarcFile) -> None:
        self.pages: dict[str, Saved] = {}
        self.ages: dict[str, float | None] = {}
        self._file = file
        self._known: dict[str, Where] = {}
        for record in file.list_records():
            self._add(record)
        self.ages |= _read_sidecar(file.path)

    def _add(self, record: Record) -> None:
        key, address = page_key(record.target), record.headers.get("warc-ip-address")
        if record.kind == "metadata" and record.headers.get("content-type") == NOTE:
            self._add_note(key, address, self._read_note(record))
        elif not record.target.lower().startswith("https:"):
            return
        elif record.kind == "response":
            self.pages[key] = Saved(record.where, record.where, address)
            names = (record.headers.get("warc-record-id"), record.headers.get("warc-payload-digest"), key)
            self._known |= {name: record.where for name in names if name}
        elif record.kind == "revisit":
            self.pages[key] = self._resolve(record, address)

    def _add_note(self, key: str, address: str | None, note: Note) -> None:
        self.ages |= note.ages
        if note.outcome is not None:
            before = self.pages.get(key, Saved(None, None, address))
            self.pages[key] = Saved(before.head, before.body, before.address, note)

    def _resolve(self, record: Record, address: str | None) -> Saved:
        """A revisit has the body of an earlier answer, and its headers too unless it brings its own.

        It names that answer by id or digest; only one that does neither means the last answer to a URL.
        """
        headers = record.headers
        exact = [headers[name] for name in ("warc-refers-to", "warc-payload-digest") if name in headers]
        names = exact or [page_key(headers.get("warc-refers-to-target-uri", record.target))]
        body = next((self._known[name] for name in names if name in self._known), None)
        if body is None:
            told = f"{self._file.path.name}: the revisit of {record.target[:200]} names no answer before it"
            raise WeighbeamError("bad_archive", told, "record the page itself, or put both files into one")
        return Saved(record.where if self._says_more(record.where) else body, body, address)

    def _says_more(self, where: Where) -> bool:
        """Whether a revisit brings headers of its own."""
        try:
            return read_head(self._file.read_block(where, MOST_HEAD + len(BLANK))).status != NOT_MODIFIED
        except (Ended, OSError):
            return False

    def _read_note(self, record: Record) -> Note:
        try:
            return Note.model_validate_json(self._file.read_block(record.where, MOST_NOTE))
        except (ValidationError, OSError) as fault:
            told = f"{self._file.path.name}: a note on {record.target[:200]}: {fault}"[:400]
            raise WeighbeamError("bad_archive", told, REMEDY) from None


def find_sidecar(path: Path) -> Path:
    """The file beside a WARC file that says how old domains are: `{"ages": {domain: days}}`."""
    return path.with_name(f"{path.name}.json")


def _read_sidecar(path: Path) -> dict[str, float | None]:
    beside = find_sidecar(path)
    if not beside.is_file():
        return {}
    try:
        return Note.model_validate(json.loads(beside.read_bytes())).ages
    except (OSError, ValueError, RecursionError) as fault:
        raise WeighbeamError("bad_archive", f"{beside.name}: {fault}"[:400], REMEDY) from None
