"""A desk's whole record as lines of JSON, each with a `kind`: for backups, for auditors, for another store.

    export, params, account, entry, settlement, form, facts, piece, contribution, end

Lines come in this order; the last one counts them, so that a file cut short is seen as such.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.record import DeskRecord, Line

FORMAT = 1
NUMBER, TEXT_OR_NONE, OBJECT_OR_NONE, WHOLE_OR_NONE = (
    (int, float),
    (str, type(None)),
    (dict, type(None)),
    (int, type(None)),
)
SHAPES: dict[str, dict[str, Any]] = {
    "export": {"format": int, "embedder": OBJECT_OR_NONE},
    "params": {"hash": str, "params": dict, "senses": dict},
    "account": {"name": str, "units": int},
    "entry": {
        "sequence": int, "at": NUMBER, "move": str, "contribution": int, "debit": str, "credit": str, "units": int,
        "previous": str, "hash": str,
    },
    "settlement": {"contribution": int, "outcome": str, "at": NUMBER, "units": int, "receipt": OBJECT_OR_NONE},
    "form": {"digest": str, "contribution": int},
    "facts": {"contribution": int, "facts": OBJECT_OR_NONE, "charged": int},
    "piece": {"id": int, "contribution": int, "crc": int, "vector": TEXT_OR_NONE},
    "contribution": {
        "id": int, "contributor": str, "at": NUMBER, "status": str, "text_sha256": str, "text": TEXT_OR_NONE,
        "withdrawn": bool, "pieces": int, "nearest": WHOLE_OR_NONE, "micro": WHOLE_OR_NONE, "units": int,
        "receipt": OBJECT_OR_NONE,
    },
    "end": {"lines": int},
}  # fmt: skip
RENAMED = {"entry": "move", "settlement": "outcome"}
"""A row's own `kind` under the name it has in a line."""


def encode_export(record: DeskRecord, vectors: bool) -> Iterator[bytes]:
    """One line after the other."""
    count = 0
    for line in _list_lines(record, vectors):
        count += 1
        yield _encode_line(line)
    yield _encode_line({"kind": "end", "lines": count})


def parse_export(lines: Iterable[bytes]) -> DeskRecord:
    """The record in an export; `bad_export` if it is none, or is cut short."""
    reader = _Reader(lines)
    heads = list(reader.take("export"))
    if len(heads) != 1 or heads[0]["format"] != FORMAT:
        raise _bad(1, f"it does not begin an export of format {FORMAT}")
    return DeskRecord(
        embedder=heads[0]["embedder"],
        params={row["hash"]: row for row in reader.take("params")},
        accounts={row["name"]: row["units"] for row in reader.take("account")},
        entries=list(reader.take("entry")),
        settlements=list(reader.take("settlement")),
        forms=list(reader.take("form")),
        facts={row["contribution"]: row for row in reader.take("facts")},
        pieces=map(_unpack, reader.take("piece")),
        contributions=reader.take("contribution", last=True),
    )


def _list_lines(record: DeskRecord, vectors: bool) -> Iterator[Line]:
    yield {"kind": "export", "format": FORMAT, "embedder": record.embedder, "vectors": vectors}
    yield from ({"kind": "params", "hash": name, **line} for name, line in record.params.items())
    yield from ({"kind": "account", "name": name, "units": units} for name, units in record.accounts.items())
    yield from (_name_kind("entry", row) for row in record.entries)
    yield from (_name_kind("settlement", row) for row in record.settlements)
    yield from ({"kind": "form", **row} for row in record.forms)
    yield from ({"kind": "facts", **row} for row in record.facts.values())
    for row in record.pieces:
        vector = base64.b64encode(row["vector"]).decode() if vectors else None
        yield {"kind": "piece", **row, "vector": vector}
    yield from ({"kind": "contribution", **row} for row in record.contributions)


class _Reader:
    """Lines by kind, in the order of an export."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._number = 0
        self._next = self._read()

    def take(self, kind: str, last: bool = False) -> Iterator[Line]:
        """All lines of a kind, which come next; after the last kind, the end."""
        own = RENAMED.get(kind)
        while self._next["kind"] == kind:
            body = {name: value for name, value in self._next.items() if name not in ("kind", own)}
            yield {**body, "kind": self._next[own]} if own else body
            self._next = self._read()
        if last and (self._next["kind"] != "end" or self._next["lines"] != self._number - 1):
            raise _bad(self._number, "the file should end here and does not, or lines are missing")

    def _read(self) -> Line:
        self._number += 1
        try:
            found: Any = json.loads(next(self._lines, b""), parse_constant=_refuse)
        except (ValueError, RecursionError):
            found = None
        shape = SHAPES.get(str(found.get("kind"))) if isinstance(found, dict) else None
        if shape is None or not all(_is_of(found.get(name), kind) for name, kind in shape.items()):
            raise _bad(self._number, "it is not a line of an export, or the file ends here")
        return dict(found)


def _is_of(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _name_kind(kind: str, row: Line) -> Line:
    return {**row, RENAMED[kind]: row["kind"], "kind": kind}


def _unpack(row: Line) -> Line:
    return {**row, "vector": None if row["vector"] is None else base64.b64decode(row["vector"], validate=True)}


def _encode_line(line: Line) -> bytes:
    return json.dumps(line, allow_nan=False).encode("ascii") + b"\n"


def _bad(number: int, told: str) -> WeighbeamError:
    return WeighbeamError("bad_export", f"line {number}: {told}", "export it again")
