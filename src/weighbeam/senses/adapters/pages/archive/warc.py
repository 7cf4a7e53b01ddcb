"""Records of a WARC file (ISO 28500), plain or gzipped record by record, each found again by where it lies.

A reader of our own: the one in common use takes broken gzip for the end of the file, has no bound on a header and
undoes encodings without one; here a file is whole or refused, and no declared length is trusted.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from weighbeam.core.errors import WeighbeamError

REMEDY = "record it again, or correct it; the page 'Senses' says what is read"
MAGIC = b"\x1f\x8b"
VERSIONS = ("WARC/1.0", "WARC/1.1")
END = b"\r\n\r\n"
PIECE = 64 << 10
MAX_HEADER = 64 << 10
MAX_RECORD = 256 << 20
MAX_BYTES = 16 << 30
MAX_RECORDS = 1_000_000


@dataclass(frozen=True, slots=True)
class WarcPosition:
    """A block: the member of the file it is in, how far in, and how long it is."""

    member: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A record's own headers, names in lower case, and where its block is."""

    headers: dict[str, str]
    where: WarcPosition

    @property
    def kind(self) -> str:
        return self.headers.get("warc-type", "")

    @property
    def target(self) -> str:
        return self.headers.get("warc-target-uri", "").removeprefix("<").removesuffix(">")


class WarcSource:
    """Unpacked bytes of a file from the start of a member on; `BadWarc` says what is wrong with them."""

    def __init__(self, file: BinaryIO, gzipped: bool, member: int = 0) -> None:
        file.seek(member)
        self._file, self._gzipped = file, gzipped
        self.member, self._spent = member, 0
        self._wire, self._plain = b"", b""
        self._stream = zlib.decompressobj(31)
        self.offset = 0

    def read(self, limit: int) -> bytes:
        """Up to `limit` bytes; empty only at the end of a member, where `next_member` goes on."""
        if not self._plain:
            self._plain = self._unpack() if self._gzipped else self._file.read(PIECE)
        piece, self._plain = self._plain[:limit], self._plain[limit:]
        self.offset += len(piece)
        return piece

    def push_back(self, rest: bytes) -> None:
        self._plain = rest + self._plain
        self.offset -= len(rest)

    def _unpack(self) -> bytes:
        """The next piece of this member, never more than `PIECE`."""
        while not self._stream.eof:
            if not self._wire:
                self._wire = self._file.read(PIECE)
                if not self._wire:
                    if self._spent:
                        raise BadWarc("it ends within a gzip member")
                    return b""
            before = len(self._wire)
            try:
                plain = self._stream.decompress(self._wire, PIECE)
            except zlib.error:
                raise BadWarc("a gzip member is broken") from None
            self._wire = self._stream.unconsumed_tail or self._stream.unused_data
            self._spent += before - len(self._wire)
            if plain:
                return plain
        return b""

    def next_member(self) -> bool:
        """Go on with the next gzip member, if there is one."""
        if not self._gzipped or not self._stream.eof:
            return False
        self.member, self._spent, self.offset = self.member + self._spent, 0, 0
        self._wire = self._wire or self._file.read(PIECE)
        self._stream = zlib.decompressobj(31)
        return bool(self._wire)


class BadWarc(Exception):
    """Fault in a WARC file."""


class WarcFile:
    """A WARC file that is read from any number of times."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._gzipped = file.read(2) == MAGIC
        except OSError as fault:
            raise WeighbeamError("bad_archive", f"{path}: {fault.strerror}", REMEDY) from None

    def list_records(self) -> Iterator[WarcRecord]:
        """Every record in its order; a file that is not whole is `bad_archive`, with the number of the record."""
        count = unpacked = 0
        try:
            with self.path.open("rb") as file:
                source = WarcSource(file, self._gzipped)
                while (record := parse_record(source)) is not None:
                    yield record
                    count, unpacked = count + 1, unpacked + record.where.length
                    if count > MAX_RECORDS or unpacked > MAX_BYTES:
                        raise BadWarc("it holds more than an archive may")
        except (BadWarc, OSError) as fault:
            told = f"{self.path.name}, record {count + 1}: {fault}"
            raise WeighbeamError("bad_archive", told, REMEDY) from None

    def load_block(self, where: WarcPosition, limit: int) -> bytes:
        """A block, or its first `limit` bytes; `OSError` if the file has changed meanwhile."""
        with self.path.open("rb") as file:
            try:
                if self._gzipped:
                    source = WarcSource(file, True, where.member)
                    skip_bytes(source, where.offset)
                else:
                    source = WarcSource(file, False, where.offset)
                return take_bytes(source, min(where.length, limit))
            except BadWarc as fault:
                raise OSError(str(fault)) from None


def parse_record(source: WarcSource) -> WarcRecord | None:
    """The next record, its block passed over; None at the end of the file."""
    while not (begun := source.read(PIECE)):
        if not source.next_member():
            return None
    source.push_back(begun)
    headers = parse_headers(take_head(source))
    length = headers.get("content-length", "")
    if not length.isascii() or not length.isdecimal() or len(length) > 15:
        raise BadWarc("its length is not a number")
    if int(length) > MAX_RECORD:
        raise BadWarc(f"it is {int(length)} bytes long, more than {MAX_RECORD}")
    where = WarcPosition(source.member, source.offset, int(length))
    skip_bytes(source, int(length))
    if take_bytes(source, len(END)) != END:
        raise BadWarc("its length is wrong")
    return WarcRecord(headers, where)


def take_head(source: WarcSource) -> bytes:
    """Up to the blank line."""
    head = b""
    while (end := head.find(END)) < 0:
        if len(head) > MAX_HEADER:
            raise BadWarc("its header is too long")
        piece = source.read(4096)
        if not piece:
            raise BadWarc("it is cut off" if head else "it is empty")
        head += piece
    source.push_back(head[end + len(END) :])
    return head[:end]


def parse_headers(head: bytes) -> dict[str, str]:
    """The named fields; the first of equal names counts, and a line that is none is refused."""
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    if version not in VERSIONS:
        raise BadWarc("it does not begin as a WARC record")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadWarc("a header line is malformed")
        headers.setdefault(name.strip().lower(), value.strip())
    return headers


def take_bytes(source: WarcSource, length: int) -> bytes:
    parts = []
    while length:
        piece = source.read(length)
        if not piece:
            raise BadWarc("it is cut off")
        parts.append(piece)
        length -= len(piece)
    return b"".join(parts)


def skip_bytes(source: WarcSource, length: int) -> None:
    while length:
        piece = source.read(min(length, PIECE))
        if not piece:
            raise BadWarc("it is cut off")
        length -= len(piece)
