"""Copy all rows of one store into a new one, in key order, and prove that they are the same; the new store appears
whole or not at all.

JSON is copied as it is written, not as it is read: an absent value stays absent, and a number keeps its digits.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    LargeBinary,
    MetaData,
    Select,
    Table,
    cast,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy import Text as PlainText
from sqlalchemy.types import NullType

from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import connect, make_tables, parse_json_column, wrap_open_faults, wrap_store_faults
from weighbeam.store.postgres import require_unicode, wait_to_write


@contextmanager
def make_store(place: str) -> Iterator[Connection]:
    """Tables to fill, by path or URL; `store_not_empty` where there is anything already.

    What is interrupted leaves nothing, and no file where there was none.
    """
    file = _find_file(place)
    new = file is not None and not file.exists()
    with wrap_open_faults(place):
        engine = connect(place if file is None else f"sqlite:///{file}")
    try:
        with wrap_store_faults(), engine.execution_options(immediate=True).begin() as connection:
            wait_to_write(connection)
            require_unicode(connection)
            _require_empty(connection)
            make_tables(connection)
            yield connection
    except BaseException:
        engine.dispose()
        if file is not None and new:
            _remove(file)
        raise
    engine.dispose()


def _find_file(place: str) -> Path | None:
    if "://" in place and not place.startswith("sqlite:///"):
        return None
    return Path(place.removeprefix("sqlite:///"))


def _require_empty(connection: Connection) -> None:
    if inspect(connection).get_table_names():
        remedy = (
            "name a file that does not exist, or create a database: createdb --encoding=UTF8 --template=template0 NAME"
        )
        raise WeighbeamError("store_not_empty", "the destination is not empty", remedy)


def _remove(file: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            file.with_name(f"{file.name}{ending}").unlink(missing_ok=True)


ROWS, LARGE_ROWS = 200, 8
"""At once, and of a table that holds contents."""
Row = tuple[Any, ...]
OnRows = Callable[[int], None]


def list_tables() -> list[Table]:
    """Whatever is copied, tables of mechanisms included: who holds a hotkey is not."""
    tables.load_mechanism_tables()
    return [table for table in tables.metadata.sorted_tables if table is not tables.locks]


def count_rows(connection: Connection) -> dict[str, int]:
    return {table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0) for table in list_tables()}


def copy_table(source: Connection, target: Connection, table: Table, on_rows: OnRows) -> None:
    """Write every row, then read them back; `copy_differs` if they are not what was read."""
    plain = make_plain_table(table)
    names = plain.columns.keys()

    def write(rows: list[Row]) -> None:
        target.execute(insert(plain), [dict(zip(names, _suit(row, table, target), strict=True)) for row in rows])
        on_rows(len(rows))

    read = _digest(source, table, write)
    if _digest(target, table, lambda rows: on_rows(len(rows))) != read:
        told = f"the rows of {table.name} differ when they are read back"
        raise WeighbeamError("copy_differs", f"{told}; nothing was kept", "try another database, and report it")
    _count_on(target, table)


def select_rows(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """Every row in the order of its key, in blocks; JSON is the text it was written as."""
    large = any(isinstance(column.type, LargeBinary) for column in table.columns)
    query = _select(connection, table).execution_options(yield_per=LARGE_ROWS if large else ROWS)
    for part in connection.execute(query).partitions():
        yield [_change(row, table, lambda one: one if isinstance(one, str) else json.dumps(one)) for row in part]


def make_plain_table(table: Table) -> Table:
    """The table with JSON as whatever is given."""
    columns = [Column(one.name, NullType() if isinstance(one.type, JSON) else one.type) for one in table.columns]
    return Table(table.name, MetaData(), *columns)


def _select(connection: Connection, table: Table) -> Select[Any]:
    plain, server = make_plain_table(table), connection.dialect.name == "postgresql"
    shown = [
        cast(plain.c[one.name], PlainText) if server and isinstance(one.type, JSON) else plain.c[one.name]
        for one in table.columns
    ]
    return select(*shown).order_by(*(plain.c[key.name] for key in table.primary_key.columns))


def _change(row: Sequence[Any], table: Table, change: Callable[[Any], Any]) -> Row:
    """The row with its JSON changed; what is absent stays so."""
    both = zip(row, table.columns, strict=True)
    return tuple(change(one) if isinstance(column.type, JSON) and one is not None else one for one, column in both)


def _suit(row: Row, table: Table, target: Connection) -> Row:
    """As it is given to the target: a file keeps a number exactly, and reads one that is written less so."""
    return _change(row, table, _as_number) if target.dialect.name == "sqlite" else row


def _as_number(written: str) -> Any:
    """A number that is all there is, if a file can hold it; else what was written.

    >>> _as_number("1.0"), _as_number("0.1"), _as_number("[1.0]"), _as_number('"1"'), _as_number("99999999999999999999")
    (1, 0.1, '[1.0]', '"1"', '99999999999999999999')
    """
    if not written[:1].isdigit() and written[:1] != "-":
        return written
    number: int | float = parse_json_column(written)
    whole = int(number) if abs(number) < 2**63 and number == int(number) else number
    return written if isinstance(whole, int) and abs(whole) >= 2**63 else whole


def _digest(connection: Connection, table: Table, on_block: Callable[[list[Row]], None]) -> bytes:
    """Of all rows, each handed on; a number that is all of a JSON counts as a file keeps it."""
    into = hashlib.sha256()
    for rows in select_rows(connection, table):
        on_block(rows)
        for value in (value for row in rows for value in _change(row, table, _as_number)):
            content = _encode_value(value)
            into.update(len(content).to_bytes(8, "big"))
            into.update(content)
    return into.digest()


def _encode_value(value: Any) -> bytes:
    """One way to write a value, whatever it was read from; no file knows a zero below zero.

    >>> [_encode_value(a) == _encode_value(b) for a, b in ((-0.0, 0.0), (1, 1.0), ("1", b"1"))], _encode_value(True)
    ([True, False, False], b'bool True')
    """
    if isinstance(value, (bytes, memoryview)):
        return b"bytes " + bytes(value)
    if isinstance(value, float):
        value += 0.0
    return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")


def _count_on(target: Connection, table: Table) -> None:
    """A server goes on numbering where the rows end; a file does so by itself."""
    if target.dialect.name != "postgresql":
        return
    for key in table.primary_key.columns:
        place = {"table": f'"{table.name}"', "column": key.name}
        sequence = target.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), place)
        last = target.scalar(select(func.max(key))) if sequence is not None else None
        if last is not None and last > 0:
            target.execute(select(func.setval(sequence, last)))
