"""Contents of a WARC file by URL: saved HTTP answers, revisits and our own notes."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import h11
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.archive.index import page_key
from weighbeam.senses.adapters.pages.archive.warc import REMEDY, WarcFile, WarcPosition, WarcRecord
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable, ReadEnded
from weighbeam.senses.adapters.pages.web.content_encoding import decode_body
from weighbeam.senses.adapters.pages.web.exchange import HttpHead
from weighbeam.senses.ports.page import PageOutcome

BLANK = b"\r\n\r\n"
MAX_HEAD = 32 << 10


def parse_saved_head(block: bytes) -> HttpHead:
    """Status and headers; `PageUnreadable` if the block does not begin with them.

    >>> parse_saved_head(b"HTTP/1.1 404 Gone\\r\\nA: b\\r\\n\\r\\n").status
    404
    """
    end = block.find(BLANK, 0, MAX_HEAD + len(BLANK))
    if end < 0:
        raise PageTooLarge("headers") if len(block) > MAX_HEAD else PageUnreadable("protocol")
    event = _next(_hear(block[: end + len(BLANK)]))
    if not isinstance(event, h11.Response):
        raise PageUnreadable("protocol")
    return HttpHead(event.status_code, tuple((name.decode("ascii"), value) for name, value in event.headers))


def parse_saved_body(block: bytes, limit: int) -> bytes:
    """The content, out of its chunks and its encoding. What says it is in chunks and is not, is taken as it is: many
    programs save it so."""
    head = parse_saved_head(block)
    body = block[block.find(BLANK) + len(BLANK) :]
    if "chunked" in head.find("transfer-encoding").lower():
        body = _join_chunks(block) or body
    return decode_body(body, head.find_all("content-encoding"), limit)


def _hear(data: bytes) -> h11.Connection:
    talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD + len(BLANK))
    talk.send(h11.Request(method="GET", target="/", headers=[("Host", "saved")]))
    talk.send(h11.EndOfMessage())
    talk.receive_data(data)
    return talk


def _next(talk: h11.Connection) -> object:
    try:
        return talk.next_event()
    except h11.RemoteProtocolError:
        return None


def _join_chunks(block: bytes) -> bytes | None:
    """None if they are none."""
    talk, parts = _hear(block), list[bytes]()
    while not isinstance(event := _next(talk), h11.EndOfMessage):
        if isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif not isinstance(event, h11.Response):
            return None
    return b"".join(parts)


NOTE = "application/vnd.weighbeam.page+json"
MAX_NOTE = 1 << 20
NOT_MODIFIED = 304


class WarcNote(BaseModel):
    """Our metadata record: facts about a URL that the response lacks, and about domains."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    outcome: PageOutcome | None = None
    fault: str | None = None
    ages: dict[str, float | None] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavedUrl:
    """One URL: where its status and headers are and where its body is, and what is noted of it."""

    head: WarcPosition | None
    body: WarcPosition | None
    address: str | None = None
    note: WarcNote = field(default_factory=WarcNote)


class WarcIndex:
    """Built record by record; the last answer to a URL counts."""

    def __init__(self, file: WarcFile) -> None:
        self.pages: dict[str, SavedUrl] = {}
        self.ages: dict[str, float | None] = {}
        self._file = file
        self._known: dict[str, WarcPosition] = {}
        for record in file.list_records():
            self._add(record)
        self.ages |= _load_sidecar(file.path)

    def _add(self, record: WarcRecord) -> None:
        key, address = page_key(record.target), record.headers.get("warc-ip-address")
        if record.kind == "metadata" and record.headers.get("content-type") == NOTE:
            self._add_note(key, address, self._parse_note(record))
        elif not record.target.lower().startswith("https:"):
            return
        elif record.kind == "response":
            self.pages[key] = SavedUrl(record.where, record.where, address)
            names = (record.headers.get("warc-record-id"), record.headers.get("warc-payload-digest"), key)
            self._known |= {name: record.where for name in names if name}
        elif record.kind == "revisit":
            self.pages[key] = self._resolve(record, address)

    def _add_note(self, key: str, address: str | None, note: WarcNote) -> None:
        self.ages |= note.ages
        if note.outcome is not None:
            before = self.pages.get(key, SavedUrl(None, None, address))
            self.pages[key] = SavedUrl(before.head, before.body, before.address, note)

    def _resolve(self, record: WarcRecord, address: str | None) -> SavedUrl:
        """A revisit has the body of an earlier answer, and its headers too unless it brings its own.

        It names that answer by id or digest; only one that does neither means the last answer to a URL.
        """
        headers = record.headers
        exact = [headers[name] for name in ("warc-refers-to", "warc-payload-digest") if name in headers]
        names = exact or [page_key(headers.get("warc-refers-to-target-uri", record.target))]
        body = next((self._known[name] for name in names if name in self._known), None)
        if body is None:
            told = f"{self._file.path.name}: the revisit of {record.target[:200]} refers to no earlier response"
            raise WeighbeamError("bad_archive", told, "record the page itself, or join both files")
        return SavedUrl(record.where if self._says_more(record.where) else body, body, address)

    def _says_more(self, where: WarcPosition) -> bool:
        """Whether a revisit brings headers of its own."""
        try:
            return parse_saved_head(self._file.load_block(where, MAX_HEAD + len(BLANK))).status != NOT_MODIFIED
        except (ReadEnded, OSError):
            return False

    def _parse_note(self, record: WarcRecord) -> WarcNote:
        try:
            return WarcNote.model_validate_json(self._file.load_block(record.where, MAX_NOTE))
        except (ValidationError, OSError) as fault:
            told = f"{self._file.path.name}: a note on {record.target[:200]}: {fault}"[:400]
            raise WeighbeamError("bad_archive", told, REMEDY) from None


def find_sidecar(path: Path) -> Path:
    """The file beside a WARC file that says how old domains are: `{"ages": {domain: days}}`."""
    return path.with_name(f"{path.name}.json")


def _load_sidecar(path: Path) -> dict[str, float | None]:
    beside = find_sidecar(path)
    if not beside.is_file():
        return {}
    try:
        return WarcNote.model_validate(json.loads(beside.read_bytes())).ages
    except (OSError, ValueError, RecursionError) as fault:
        raise WeighbeamError("bad_archive", f"{beside.name}: {fault}"[:400], REMEDY) from None
