"""Seals: what every row of evidence held when Weighbeam last wrote it, and sums of them that a head can sign.

A seal is the digest of a row. The seals of a table are summed without order (LtHash: 1,024 lanes of 16 bits, to which
every seal adds 1,024 numbers of its own). A row is added, changed or removed at the cost of that row alone, and a
signature over the sum is a signature over all rows.

A row that differs from its seal before Weighbeam changes or removes it was changed by somebody else. Its seal is
broken for good, so that writing the row again does not hide the change.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, and_, delete, insert, or_, select, update

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.store import tables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LANES = 1024
PENDING = "weighbeam.seals"
BROKEN = "broken"
SEALED_TABLES = (tables.submissions, tables.audits, tables.alerts, tables.copies, tables.extras)
"""Tables whose rows are sealed one by one. A mechanism may seal more under its own names."""
MAX_KEYS = 200

Key = tuple[Any, ...]


@dataclass(slots=True)
class PendingSums:
    """Changes of a transaction to the sums; `touched` names the tables that a head must cover again.

    `before` and `after` are the sums of the tables it changed, as `format_sum` gives them; `ends` says of each chain
    that it continues which entry it continued from, as number and hash.
    """

    counts: dict[str, int] = field(default_factory=dict)
    lanes: "dict[str, NDArray[np.uint16]]" = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    before: dict[str, list[Json]] = field(default_factory=dict)
    after: dict[str, list[Json]] = field(default_factory=dict)
    ends: dict[str, tuple[int, str]] = field(default_factory=dict)


@contextmanager
def collect_seals(connection: Connection) -> Iterator[PendingSums]:
    """Collect the seals of a transaction; its owner writes the sums with `update_sums` before it commits.

    A connection whose server is gone cannot be asked for its notes any more, so they are held from the start.
    """
    kept = connection.info
    pending = kept[PENDING] = PendingSums()
    try:
        yield pending
    finally:
        kept.pop(PENDING, None)


def touch(connection: Connection, name: str) -> None:
    """Have the head signed that covers `name`, though no sealed row of it has changed."""
    pending: PendingSums | None = connection.info.get(PENDING)
    if pending is not None:
        pending.touched.add(name)


def continue_chain(connection: Connection, name: str, end: tuple[int, str]) -> None:
    """Note which entry of a chain this transaction continues from."""
    pending: PendingSums | None = connection.info.get(PENDING)
    if pending is not None:
        pending.ends.setdefault(name, end)


def digest_row(table: Table, row: RowMapping) -> str:
    return digest_values({column.name: _plain(row[column.name]) for column in table.c})


def digest_values(values: Any) -> str:
    """SHA-256 of JSON in ASCII with sorted keys and no blanks: whatever a column can hold has a digest."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _plain(value: Any) -> Json:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value


def format_key(key: Key) -> str:
    return canonical_json(list(key)).decode()


def put_seal(connection: Connection, name: str, key: str, digest: str | None, new: bool = False) -> None:
    """Set the seal of a row; None removes it. A `new` row has none yet."""
    columns, pending = tables.seals.c, connection.info[PENDING]
    here = and_(columns.name == name, columns.key == key)
    before = None if new else connection.scalar(select(columns.digest).where(here))
    if before == digest:
        return
    if before is not None:
        connection.execute(delete(tables.seals).where(here))
        _add(pending, name, key, before, -1)
    if digest is not None:
        connection.execute(insert(tables.seals).values(name=name, key=key, digest=digest))
        _add(pending, name, key, digest, 1)


def _add(pending: PendingSums, name: str, key: str, digest: str, sign: int) -> None:
    pending.touched.add(name)
    pending.counts[name] = pending.counts.get(name, 0) + sign
    drawn = draw_lanes(name, key, digest)
    signed = drawn if sign > 0 else -drawn
    pending.lanes[name] = pending.lanes[name] + signed if name in pending.lanes else signed


def draw_lanes(name: str, key: str, digest: str) -> "NDArray[np.uint16]":
    """The numbers that one seal adds to the sum of its table."""
    import numpy as np

    drawn = hashlib.shake_128(canonical_json([name, key, digest])).digest(2 * LANES)
    return np.frombuffer(drawn, "<u2").astype(np.uint16)


def seal_new(connection: Connection, table: Table, keys: Sequence[Key]) -> None:
    """Seal rows that this transaction has inserted. A key that is sealed already was somebody's who was removed."""
    for key, row in _select_rows(connection, table, keys).items():
        used = select_seal(connection, table.name, key) is not None
        put_seal(connection, table.name, key, BROKEN if used else digest_row(table, row))


@contextmanager
def sealing(connection: Connection, table: Table, keys: Sequence[Key]) -> Iterator[None]:
    """Seal again the rows that are changed or removed inside."""
    before = _select_rows(connection, table, keys)
    broken = {key for key in map(format_key, keys) if not _holds(connection, table, key, before.get(key))}
    yield
    after = _select_rows(connection, table, keys)
    for key in map(format_key, keys):
        sound = digest_row(table, after[key]) if key in after else None
        put_seal(connection, table.name, key, BROKEN if key in broken else sound)


def insert_sealed(connection: Connection, table: Table, row: Mapping[str, Any]) -> Key:
    """Insert a row and seal it; gives its key."""
    primary = connection.execute(insert(table).values(**row)).inserted_primary_key
    assert primary is not None
    key = tuple(primary)
    seal_new(connection, table, [key])
    return key


def delete_sealed(connection: Connection, table: Table, chosen: ColumnElement[bool]) -> None:
    """Delete rows and their seals."""
    keys = [tuple(row) for row in connection.execute(select(*table.primary_key.columns).where(chosen))]
    with sealing(connection, table, keys):
        connection.execute(delete(table).where(chosen))


def _holds(connection: Connection, table: Table, key: str, row: RowMapping | None) -> bool:
    """Whether a row is what its seal says; one that is not there has none."""
    return select_seal(connection, table.name, key) == (None if row is None else digest_row(table, row))


def select_seal(connection: Connection, name: str, key: str) -> str | None:
    columns = tables.seals.c
    return connection.scalar(select(columns.digest).where(columns.name == name, columns.key == key))


def _select_rows(connection: Connection, table: Table, keys: Sequence[Key]) -> dict[str, RowMapping]:
    """Rows by their formatted key; a key without a row is left out."""
    primary = list(table.primary_key.columns)
    found: dict[str, RowMapping] = {}
    for start in range(0, len(keys), MAX_KEYS):
        chosen = (
            and_(*(column == value for column, value in zip(primary, key, strict=True)))
            for key in keys[start : start + MAX_KEYS]
        )
        for row in connection.execute(select(table).where(or_(*chosen))):
            found[format_key(name_row(table, row._mapping))] = row._mapping
    return found


def name_row(table: Table, row: RowMapping) -> Key:
    return tuple(row[column.name] for column in table.primary_key.columns)


def seal_existing(connection: Connection) -> None:
    """Seal every row of evidence of a store from before there were seals."""
    with collect_seals(connection) as pending:
        for table in SEALED_TABLES:
            for row in connection.execute(select(table)).mappings():
                put_seal(connection, table.name, format_key(name_row(table, row)), digest_row(table, row))
        for name, values in list_watched(connection).items():
            for key, digest in values.items():
                put_seal(connection, name, key, digest)
        update_sums(connection, pending)


OBSERVED, COLLECTED = "observed", "collected"
WATCHED = (OBSERVED, COLLECTED)
"""Sealed in addition to whole rows: rounds that wait to be scored, and the position of each collection."""
CURSOR = "collected:"


def list_watched(connection: Connection) -> dict[str, dict[str, str]]:
    """Expected seals of `WATCHED`, by name and key."""
    rounds, memory = tables.rounds, tables.memory.c
    waiting = connection.execute(select(rounds).where(rounds.c.state == OBSERVED))
    cursors = connection.execute(select(memory.key, memory.value).where(memory.key.startswith(CURSOR)))
    return {
        OBSERVED: {row.id: digest_observed(row.id, row.mechanism, row.at, row.block, row.body) for row in waiting},
        COLLECTED: {row.key.removeprefix(CURSOR): digest_values(row.value) for row in cursors},
    }


def digest_observed(id: str, mechanism: str, at: float, block: int, body: str) -> str:
    return digest_values([id, mechanism, at + 0.0, block, body])


def find_unwatched(connection: Connection, name: str) -> Iterator[str]:
    """Differences between `WATCHED` and its seals, one sentence each."""
    columns = tables.seals.c
    query = select(columns.key, columns.digest).where(columns.name == name)
    kept = {row.key: row.digest for row in connection.execute(query)}
    found = list_watched(connection)[name]
    for key in sorted({*kept, *found}):
        if kept.get(key) != found.get(key):
            yield f"{key} is not what was sealed"


def update_sums(connection: Connection, pending: PendingSums) -> None:
    """Add what the transaction has collected to the sums that are kept."""
    if not pending.lanes:
        return
    import numpy as np

    for name, lanes in pending.lanes.items():
        here = tables.sums.c.name == name
        kept = connection.execute(select(tables.sums).where(here)).one_or_none()
        rows, total = (kept.rows, np.frombuffer(kept.lanes, np.uint16)) if kept else (0, np.zeros(LANES, np.uint16))
        pending.before.setdefault(name, format_sum(rows, total.tobytes()))
        rows, total = rows + pending.counts[name], total + lanes
        pending.after[name] = format_sum(rows, total.tobytes())
        if kept is None:
            connection.execute(insert(tables.sums).values(name=name, rows=rows, lanes=total.tobytes()))
        else:
            connection.execute(update(tables.sums).where(here).values(rows=rows, lanes=total.tobytes()))
    pending.lanes.clear()
    pending.counts.clear()


def select_sums(connection: Connection, names: Sequence[str]) -> dict[str, list[Json]]:
    """By table, how many rows are sealed and the digest of their sum; tables without a row are left out."""
    query = select(tables.sums).where(tables.sums.c.name.in_(names), tables.sums.c.rows != 0)
    return {row.name: format_sum(row.rows, row.lanes) for row in connection.execute(query.order_by(tables.sums.c.name))}


def format_sum(rows: int, lanes: bytes) -> list[Json]:
    return [rows, hashlib.sha256(lanes).hexdigest()]


def add_up_seals(connection: Connection, names: Sequence[str]) -> dict[str, list[Json]]:
    """The same, computed from the seals themselves."""
    columns = tables.seals.c
    pending = PendingSums()
    query = select(tables.seals).where(columns.name.in_(names)).execution_options(yield_per=1000)
    for row in connection.execute(query):
        _add(pending, row.name, row.key, row.digest, 1)
    return {name: format_sum(pending.counts[name], pending.lanes[name].tobytes()) for name in sorted(pending.counts)}


def find_unsealed(connection: Connection, table: Table) -> Iterator[str]:
    """Rows of a table that are not what was sealed, one sentence each."""
    columns = tables.seals.c
    query = select(columns.key, columns.digest).where(columns.name == table.name)
    kept: dict[str, str] = {row.key: row.digest for row in connection.execute(query)}
    for row in connection.execute(select(table).execution_options(yield_per=1000)).mappings():
        key = format_key(name_row(table, row))
        sealed = kept.pop(key, None)
        if sealed is None:
            yield f"row {key} was added"
        elif sealed == BROKEN:
            yield f"row {key} was changed before it was last written"
        elif sealed != digest_row(table, row):
            yield f"row {key} was changed"
    yield from (
        f"row {key} was changed before it was removed" if digest == BROKEN else f"row {key} was removed"
        for key, digest in sorted(kept.items())
    )
