"""The corpus's vectors in pgvector's type: insert them by binary COPY, and scan them in parallel for many queries at
once.

A copy: made of `pieces` and of nothing else, under the write lock, in order, so that it is always all of them up to
its last. It can be dropped at any time and is rebuilt. Sixteen partitions are read by as many workers as the server
gives; there is no index but the numbers', because an approximate one would miss neighbours.

`far` is pgvector's negative inner product: computed in float32, so it proposes rows and decides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import Store
from weighbeam.store.postgres import is_postgres

HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
END = b"\xff\xff"


def pack_vectors(ids: Sequence[int], vectors: NDArray[np.int32]) -> bytes:
    """Rows of a bigint and a vector of pgvector, which is its dimensions, two bytes of nothing, and its float32.

    >>> packed = pack_vectors([7], np.array([[600000, -800000]], np.int32))
    >>> packed[len(HEAD) : -len(END)].hex(" ", -4)
    '00020000 00080000 00000000 00070000 000c0002 00004912 7c00c943 5000'
    """
    dimensions = vectors.shape[1]
    row = [
        ("fields", ">i2"),
        ("id_bytes", ">i4"),
        ("id", ">i8"),
        ("vector_bytes", ">i4"),
        ("dimensions", ">i2"),
        ("nothing", ">i2"),
        ("vector", ">f4", (dimensions,)),
    ]
    rows = np.zeros(len(vectors), np.dtype(row))
    rows["fields"], rows["id_bytes"], rows["vector_bytes"] = 2, 8, 4 + 4 * dimensions
    rows["id"], rows["dimensions"], rows["vector"] = ids, dimensions, vectors
    return HEAD + rows.tobytes() + END


TABLE = "piece_vectors"
PARTITIONS = 16
INLINE = 2000
"""Dimensions of which a row fits on a page: it is read with the page, not looked up."""
ANEW = f"DROP TABLE {TABLE} in that database: it is rebuilt from the pieces"
REFUSED, MISSING = "42501", ("0A000", "58P01")
SIZE = "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'vector'"
WRITE = f"COPY {TABLE} (id, vector) FROM STDIN (FORMAT BINARY)"
READ = f"SELECT id, vector::text FROM {TABLE} WHERE id BETWEEN %s AND %s ORDER BY id"


def open_vectors(store: Store, dimensions: int) -> None:
    """Create the table if it is missing; obstacles are errors with a remedy."""
    if not is_postgres(store.engine):
        told = "pgvector is of PostgreSQL, and this store is a file"
        raise WeighbeamError("bad_scan", told, "set store.url to postgresql://…, or novelty.scan to auto")
    with store.read() as connection:
        found = select_dimensions(connection)
    if found is None:
        with store.write() as connection:
            found = select_dimensions(connection) or _make(connection, dimensions)
    if found != dimensions:
        raise WeighbeamError("corrupt_corpus", f"the table of vectors has {found} dimensions, not {dimensions}", ANEW)


def select_dimensions(connection: Connection) -> int | None:
    """Dimensions of the table, None if there is none."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.exec_driver_sql(SIZE, (TABLE,)).scalar()


def lacks_vectors(store: Store) -> bool:
    """Whether a server could have the table and has none."""
    with store.read() as connection:
        return is_postgres(store.engine) and select_dimensions(connection) is None


def select_last_vector(connection: Connection) -> int:
    return int(connection.exec_driver_sql(f"SELECT max(id) FROM {TABLE}").scalar() or 0)


def count_vectors(connection: Connection) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {TABLE}").scalar() or 0)


def insert_vectors(connection: Connection, ids: Sequence[int], vectors: NDArray[np.int32]) -> None:
    """In the transaction of `connection`, past its statements: they know no COPY, nor what goes wrong in one."""
    driver, dialect = connection.connection.driver_connection, connection.dialect
    assert driver is not None
    assert dialect.loaded_dbapi is not None
    try:
        with driver.cursor() as cursor, cursor.copy(WRITE) as copy:
            copy.write(pack_vectors(ids, vectors))
    except dialect.loaded_dbapi.Error as fault:
        raise DBAPIError(WRITE, None, fault) from fault


def select_vectors_between(connection: Connection, first: int, last: int) -> dict[int, NDArray[np.float64]]:
    rows = connection.exec_driver_sql(READ, (first, last))
    return {row[0]: np.fromstring(row[1][1:-1], sep=",") for row in rows}


def format_vector(vector: NDArray[Any]) -> str:
    """As pgvector reads it; integers in millionths are exact in its float32.

    >>> format_vector(np.array([600000, -800000], np.int32))
    '[600000, -800000]'
    """
    return str(vector.tolist())


def _make(connection: Connection, dimensions: int) -> int:
    _make_extension(connection)
    connection.exec_driver_sql(
        f"CREATE TABLE {TABLE} (id bigint NOT NULL, vector vector({int(dimensions)}) NOT NULL) PARTITION BY HASH (id)"
    )
    if dimensions <= INLINE:
        connection.exec_driver_sql(f"ALTER TABLE {TABLE} ALTER vector SET STORAGE PLAIN")
    for part in range(PARTITIONS):
        which = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
        connection.exec_driver_sql(f"CREATE TABLE {TABLE}_{part} PARTITION OF {TABLE} (PRIMARY KEY (id)) {which}")
    return dimensions


def _make_extension(connection: Connection) -> None:
    try:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except DBAPIError as fault:
        state = getattr(fault.orig, "sqlstate", None)
        if state == REFUSED:
            told, remedy = "may not be made by this role", "have the administrator run CREATE EXTENSION vector there"
        elif state in MISSING:
            told, remedy = "is not on this server", "install pgvector there, or set novelty.scan to auto"
        else:
            raise
        raise WeighbeamError("no_pgvector", f"the extension vector {told}", remedy) from None


FAR = "(vector <#> %s::vector)"
SCAN_SETTINGS = "SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)"
"""For this transaction: nothing compiled, which takes longer than it saves, and no query read from text again for every
row. When workers help, and how many, the server's operator has decided: as it comes, two from about 80,000 rows on."""
BEYOND = 1e13
"""Above every `far`."""
Queries = NDArray[np.int32]


def tune_scan(connection: Connection) -> None:
    connection.exec_driver_sql(SCAN_SETTINGS)


def select_marks(connection: Connection, queries: Queries) -> list[float]:
    """For each query a `far` that few rows are below and one is at, if its partition has any: the lowest of one."""
    lowest = ", ".join(f"min{FAR}" for _ in queries)
    asked = connection.exec_driver_sql(f"SELECT {lowest} FROM {TABLE}_0", tuple(map(format_vector, queries))).one()
    return [BEYOND if mark is None else float(mark) for mark in asked]


def list_lowest(
    connection: Connection, queries: Queries, marks: Sequence[float], limit: int
) -> tuple[list[int], float]:
    """Rows that are not beyond the mark of every query, the furthest below any of them first; and an edge.

    Every other row is at least that far above all marks: 0, or less if there were more rows than `limit`.
    """
    statement, given = format_lowest(queries, marks, limit)
    rows = connection.exec_driver_sql(statement, given).all()
    return [row.id for row in rows], float(rows[-1].above) if len(rows) == limit else 0.0


def format_lowest(queries: Queries, marks: Sequence[float], limit: int) -> tuple[str, tuple[Any, ...]]:
    """The statement and what it is given. What the condition drops is neither computed again nor sorted."""
    within = " OR ".join(f"{FAR} <= %s::float8" for _ in queries)
    above = ", ".join(f"{FAR} - %s::float8" for _ in queries)
    pairs = [each for query, mark in zip(queries, marks, strict=True) for each in (format_vector(query), mark)]
    statement = f"SELECT id, least({above}) AS above FROM {TABLE} WHERE {within} ORDER BY above LIMIT %s"
    return statement, (*pairs, *pairs, limit)


def stream_within(connection: Connection, query: Queries, limit: float, at_once: int) -> Iterator[list[int]]:
    """Every row that is not beyond the limit, in blocks, however many those are."""
    statement = f"SELECT id FROM {TABLE} WHERE {FAR} <= %s::float8"
    given = (format_vector(query), limit)
    rows = connection.exec_driver_sql(statement, given, execution_options={"yield_per": at_once})
    for block in rows.partitions(at_once):
        yield sorted(row.id for row in block)
