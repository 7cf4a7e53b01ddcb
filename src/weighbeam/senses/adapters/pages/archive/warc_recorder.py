"""Write what was fetched as WARC records, one gzip member each, so that it can be read again without a network."""

import gzip
import os
import shutil
import threading
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from weighbeam.senses.adapters.pages.archive.warc import WarcFile
from weighbeam.senses.adapters.pages.archive.warc_index import NOTE, WarcNote
from weighbeam.senses.adapters.pages.limits import TEXT
from weighbeam.senses.adapters.pages.outcome import ReadRefused, judge_answer
from weighbeam.senses.adapters.pages.web.fetch import REDIRECTS, Fetched
from weighbeam.senses.adapters.pages.web.url import parse_page_url
from weighbeam.senses.ports.page import Hop

ANSWER = "application/http; msgtype=response"


class WarcRecorder:
    """Adds to a WARC file, from any thread; one called `.gz` is gzipped, a record at a time.

    The file is there, whole, once `close` was called.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._half = path, path.with_name(f"{path.name}.half")
        self._lock = threading.Lock()
        if path.exists():
            for _ in WarcFile(path).list_records():
                pass
            shutil.copyfile(path, self._half)
        else:
            self._half.write_bytes(b"")

    def keep(self, fetched: Fetched) -> None:
        """Keep one fetch: every answer on its way, and how it ended where the last answer does not say so."""
        *way, final = fetched.hops
        records = [
            _encode_answer(hop, {"Location": nearer.url})
            for hop, nearer in zip(way, fetched.hops[1:], strict=True)
            if hop.status in REDIRECTS
        ]
        said = {"Content-Type": fetched.content_type, "X-Robots-Tag": fetched.robots}
        if final.status is not None:
            records.append(_encode_answer(final, said, fetched.body))
        if not _follows(fetched, final):
            records.append(_encode_note(final, WarcNote(outcome=fetched.outcome, fault=fetched.fault)))
        self._append(records)

    def keep_age(self, domain: str, age_days: float | None) -> None:
        """Keep the age of a domain, as of now."""
        note = WarcNote(ages={domain: age_days}).model_dump_json(exclude_defaults=True).encode()
        self._append([_encode_record("metadata", {"Content-Type": NOTE}, note)])

    def close(self) -> None:
        """Put the file in its place."""
        os.replace(self._half, self._path)

    def _append(self, records: Sequence[bytes]) -> None:
        packs = self._path.suffix == ".gz"
        with self._lock, self._half.open("ab") as file:
            file.write(b"".join(gzip.compress(record) if packs else record for record in records if record))


def _follows(fetched: Fetched, final: Hop) -> bool:
    """Whether the records of its way say by themselves how a fetch ended."""
    if final.status is None:
        return fetched.fault == "hops"
    return judge_answer(final.status, fetched.content_type, TEXT) == fetched.outcome


def _encode_answer(hop: Hop, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Header values go back to the bytes that `Head` reads them from."""
    lines = [f"HTTP/1.1 {hop.status} ".encode(), b"Content-Length: %d" % len(body)]
    for name, value in headers.items():
        if value:
            lines.append(name.encode() + b": " + value.encode("latin-1" if name == "X-Robots-Tag" else "utf-8"))
    return _encode_of(hop, "response", ANSWER, b"\r\n".join(lines) + b"\r\n\r\n" + body)


def _encode_note(hop: Hop, note: WarcNote) -> bytes:
    return _encode_of(hop, "metadata", NOTE, note.model_dump_json(exclude_defaults=True).encode())


def _encode_of(hop: Hop, kind: str, content_type: str, block: bytes) -> bytes:
    """A record of a URL; of one that nobody may ask for there is none, since it is refused before it is looked up."""
    try:
        target = parse_page_url(hop.url).url
    except ReadRefused:
        return b""
    address = {"WARC-IP-Address": hop.address} if hop.address else {}
    return _encode_record(kind, {"WARC-Target-URI": target, **address, "Content-Type": content_type}, block)


def _encode_record(kind: str, headers: Mapping[str, str], block: bytes) -> bytes:
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **headers,
        "Content-Length": str(len(block)),
    }
    head = "\r\n".join(["WARC/1.1", *(f"{name}: {value}" for name, value in named.items())])
    return head.encode() + b"\r\n\r\n" + block + b"\r\n\r\n"
