"""Records of files that a user has: JSON lines, JSON lists, CSV and TSV, each also gzipped.

The files are somebody else's, so size and shape are checked before anything is kept: a file is read whole or refused
with the line that is wrong.
"""

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.text import has_lone_surrogate
from weighbeam.engine.support.json_files import is_folder, load_bytes
from weighbeam.network.strict_json import parse_strict

MAX_BYTES = 256 << 20
"""Of a file, unpacked."""
MAX_LINE = 8 << 20
MAX_NODES = 1 << 22
"""JSON values and keys of a whole file that is one list."""
MAX_RECORDS = 500_000
MAX_FILES = 1000
GZIP = b"\x1f\x8b"
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
LISTS, LINES, COMMAS, TABS = (".json",), (".jsonl", ".ndjson"), (".csv",), (".tsv",)
SUFFIXES = (*LISTS, *LINES, *COMMAS, *TABS)
SPLIT = "split it, or take a part"


@dataclass(frozen=True, slots=True)
class DataRecord:
    """The fields of one line, and where it is."""

    file: str
    line: int
    fields: Mapping[str, Any]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def set(self) -> str:
        """The set it belongs to if it does not say so: the file's name.

        >>> DataRecord("qqp/dev.tsv.gz", 1, {}).set
        'dev'
        """
        return str(self.fields.get("set") or "") or Path(self.file).name.partition(".")[0] or "rows"

    def change(self, fields: Mapping[str, Any]) -> "DataRecord":
        """Other fields at the same place, in the same set."""
        return replace(self, fields={"set": self.set, **fields})

    def refuse(self, message: str, remedy: str) -> WeighbeamError:
        return WeighbeamError("bad_rows", f"{self.place}: {message}", remedy)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that was read: its digest tells it from another of the same name."""

    name: str
    sha256: str
    records: int


def load_records(places: Sequence[Path]) -> tuple[list[DataFile], list[DataRecord]]:
    """Every record of the files, and of the data files in the folders."""
    files, records = [], []
    for path in list_files(places):
        data = load_bytes(path, MAX_BYTES)
        found = list(parse_records(str(path), data))
        files.append(DataFile(str(path), hashlib.sha256(data).hexdigest(), len(found)))
        records += found
        require(len(records) <= MAX_RECORDS, "file_too_large", f"more than {MAX_RECORDS:,} records", SPLIT)
    return files, records


def list_files(places: Sequence[Path]) -> list[Path]:
    """Files as they were named; of a folder those whose name ends like data, in order, its folders included."""
    found: list[Path] = []
    for place in places:
        found += sorted(one for one in place.rglob("*") if _is_data(one)) if is_folder(place) else [place]
    require(len(found) <= MAX_FILES, "file_too_large", f"{len(found):,} files", f"name at most {MAX_FILES:,}")
    return found


def _is_data(path: Path) -> bool:
    return _find_suffix(path.name) in SUFFIXES and path.is_file()


def _find_suffix(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix


def parse_records(name: str, data: bytes) -> Iterator[DataRecord]:
    """The form follows from the name: `.json`, `.csv`, `.tsv`, else JSON lines. Gzip shows in the first bytes."""
    plain = _unpack(name, data) if data.startswith(GZIP) else data
    suffix = _find_suffix(name)
    if suffix in (*COMMAS, *TABS):
        return _parse_table(name, plain, suffix in TABS)
    return _parse_list(name, plain) if suffix in LISTS else _parse_lines(name, plain)


def _unpack(name: str, data: bytes) -> bytes:
    """Not more than the limit, however much is packed into it."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            plain = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as fault:
        raise WeighbeamError("unreadable_file", f"{name} is not gzip: {fault}", "pack it again") from None
    require(len(plain) <= MAX_BYTES, "file_too_large", f"{name} has more than {MAX_BYTES:,} bytes unpacked", SPLIT)
    return plain


def _parse_lines(name: str, data: bytes) -> Iterator[DataRecord]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield _make_record(name, number, _parse_json(name, number, line, MAX_LINE))


def _parse_list(name: str, data: bytes) -> Iterator[DataRecord]:
    """A list of objects, or one object; the line of a record is its number."""
    value = _parse_json(name, 1, data.removeprefix(b"\xef\xbb\xbf"), MAX_BYTES)
    for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
        yield _make_record(name, number, item)


def _parse_json(name: str, number: int, text: bytes, limit: int) -> Any:
    if len(text) > limit:
        told = f"{name}:{number}: the line has more than {limit:,} bytes"
        raise WeighbeamError("bad_rows", told, "write one object on each line")
    try:
        value = parse_strict(text, max_nodes=MAX_NODES)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_rows", f"{name}:{number}: {fault.message}", "correct the line") from None
    # Only an escape can bring half a character, which no model and no terminal takes.
    if SURROGATE.search(text) and has_lone_surrogate(json.dumps(value, ensure_ascii=False)):
        raise WeighbeamError("bad_rows", f"{name}:{number}: a text holds half a character", "write it as UTF-8")
    return value


def _make_record(name: str, number: int, value: Any) -> DataRecord:
    if not isinstance(value, dict):
        raise WeighbeamError("bad_rows", f"{name}:{number}: this is not a JSON object", "write one object on each line")
    return DataRecord(name, number, value)


def _parse_table(name: str, data: bytes, is_tabs: bool) -> Iterator[DataRecord]:
    """A header and rows as wide as it. Quotes of a TSV are text, as the public sets write them."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise WeighbeamError("not_utf8", f"{name}: bad byte at {fault.start}", "save it as UTF-8") from None
    form: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if is_tabs else {"strict": True}
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(io.StringIO(text, newline=""), **form)
    names: list[str] = []
    try:
        for values in reader:
            if not names:
                names = [one.strip() for one in values]
                unique = len(set(names)) == len(names)
                require(unique, "bad_rows", f"{name}:1: a column occurs twice", "name each column once")
            elif values:
                yield _make_row(name, reader.line_num, names, values)
    except csv.Error as fault:
        raise WeighbeamError("bad_rows", f"{name}:{reader.line_num}: {fault}", "correct the line") from None


def _make_row(name: str, number: int, names: Sequence[str], values: Sequence[str]) -> DataRecord:
    if len(values) != len(names):
        told = f"{name}:{number}: {len(values)} columns, and the header has {len(names)}"
        raise WeighbeamError("bad_rows", told, "give every row the columns of the header")
    return DataRecord(name, number, dict(zip(names, values, strict=True)))
