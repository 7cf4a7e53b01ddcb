"""A table as a file: CSV that no spreadsheet computes, JSON, or Parquet where pyarrow is installed."""

import csv
import io
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from weighbeam.engine.export.run import load_pyarrow
from weighbeam.service.tables.model import Cell, Column, FoundRows, Table, TableChoice

MAX_CELL = 2000
STEERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Control characters, direction marks and halves of characters: they change what a terminal or a cell shows."""
FORMULA = tuple("=+-@|%＝＋－＠")
"""Beginnings of cells that a spreadsheet would compute."""
FORMATS: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


def list_formats() -> list[str]:
    """Those that can be written here."""
    return [form for form in FORMATS if form != "parquet" or find_spec("pyarrow") is not None]


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file to send: its bytes, its type, and the name to save it under."""

    data: bytes
    media_type: str
    name: str
    more: bool


def make_file(table: Table, choice: TableChoice, found: FoundRows, form: str) -> TableFile:
    """`no_parquet` without pyarrow."""
    if form == "json":
        data = make_json(table, choice, found)
    else:
        data = make_csv(table, found) if form == "csv" else make_parquet(table, found)
    return TableFile(data, FORMATS[form], f"weighbeam-{table.name}.{form}", found.more)


def make_csv(table: Table, found: FoundRows) -> bytes:
    """Times as ISO 8601 in UTC, lists with blanks between, lines that end as RFC 4180 says."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([column.name for column in table.columns])
    for row in found.rows:
        writer.writerow([format_cell(column, column.value(row)) for column in table.columns])
    return out.getvalue().encode("utf-8", "replace")


def format_cell(column: Column, value: Cell) -> str | int | float:
    """A number as it is, any text so that it stays one.

    >>> word = Column("reason", "text", str, "")
    >>> format_cell(word, "=1+1"), format_cell(word, " \\t@SUM(1)"), format_cell(word, "timeout")
    ("'=1+1", "' ·@SUM(1)", 'timeout')
    >>> format_cell(Column("at", "time", float, ""), 1767225600.25), format_cell(Column("x", "real", float, ""), -1.5)
    ('2026-01-01T00:00:00.250Z', -1.5)
    """
    if value is None:
        return ""
    if column.kind == "time" and isinstance(value, int | float):
        return format_utc(value)
    if isinstance(value, int | float):
        return value
    return escape_formula(" ".join(value) if isinstance(value, tuple) else value)


def escape_formula(text: str) -> str:
    """Text that no spreadsheet computes and that changes nothing around it, cut if it is endless.

    >>> escape_formula("-2+3"), escape_formula("a\\u202eb")
    ("'-2+3", 'a·b')
    """
    tame = STEERS.sub("·", text[:MAX_CELL])
    return f"'{tame}" if tame.lstrip(" ·\u00a0\u3000\"'").startswith(FORMULA) else tame


def format_utc(at: float) -> str:
    whole = int(at // 1)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int((at - whole) * 1000):03d}Z"


def make_json(table: Table, choice: TableChoice, found: FoundRows) -> bytes:
    """ASCII, so that half characters stay what they are; times in Unix seconds, as everywhere in the API."""
    rows = [{column.name: column.value(row) for column in table.columns} for row in found.rows]
    whole = {
        "table": table.name,
        "sort": choice.sort,
        "filters": dict(choice.filters),
        "rows": rows,
        "more": found.more,
    }
    return json.dumps(whole, allow_nan=False).encode()


def make_parquet(table: Table, found: FoundRows) -> bytes:
    """`no_parquet` without pyarrow."""
    arrow = load_pyarrow()
    fields = [(column.name, _find_type(arrow, column)) for column in table.columns]
    columns = [[_suit(column, column.value(row)) for row in found.rows] for column in table.columns]
    arrays = [arrow.array(values, kind) for values, (_, kind) in zip(columns, fields, strict=True)]
    out = io.BytesIO()
    arrow.parquet.write_table(arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), out, compression="zstd")
    return out.getvalue()


def _find_type(arrow: Any, column: Column) -> Any:
    kinds = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "real": arrow.float64(),
        "time": arrow.timestamp("us", "UTC"),
        "list": arrow.list_(arrow.string()),
    }
    return kinds[column.kind]


def _suit(column: Column, value: Cell) -> Any:
    if value is None:
        return None
    if column.kind == "time" and isinstance(value, int | float):
        return int(value * 1_000_000)
    if isinstance(value, tuple):
        return [_clean(one) for one in value]
    return _clean(value) if isinstance(value, str) else value


def _clean(text: str) -> str:
    """Parquet holds no half characters."""
    return text.encode("utf-8", "replace").decode()
