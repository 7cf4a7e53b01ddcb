"""The corpus's vectors in the type of pgvector, beside their pieces, for the server to multiply.

A copy: made of `pieces` and of nothing else, under the write lock, in order, so that it is always all of them up to
its last. It can be dropped at any time and is made anew. Sixteen partitions are read by as many workers as the server
gives; there is no index but the numbers', because an approximate one would miss neighbours.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import Store
from weighbeam.store.pack_vectors import pack_vectors
from weighbeam.store.postgres import is_postgres

TABLE = "piece_vectors"
PARTITIONS = 16
INLINE = 2000
"""Dimensions of which a row fits on a page: it is read with the page, not looked up."""
ANEW = f"DROP TABLE {TABLE} in that database: it is made anew from the pieces"
REFUSED, MISSING = "42501", ("0A000", "58P01")
SIZE = "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'vector'"
WRITE = f"COPY {TABLE} (id, vector) FROM STDIN (FORMAT BINARY)"
READ = f"SELECT id, vector::text FROM {TABLE} WHERE id BETWEEN %s AND %s ORDER BY id"


def open_vectors(store: Store, dimensions: int) -> None:
    """Make the table if it is not there; whatever stands in the way is told with what to do."""
    if not is_postgres(store.engine):
        told = "pgvector is of PostgreSQL, and this store is a file"
        raise WeighbeamError("bad_scan", told, "set store.url to postgresql://…, or novelty.scan to auto")
    with store.read() as connection:
        found = find_size(connection)
    if found is None:
        with store.write() as connection:
            found = find_size(connection) or _make(connection, dimensions)
    if found != dimensions:
        raise WeighbeamError("corrupt_corpus", f"the table of vectors has {found} dimensions, not {dimensions}", ANEW)


def find_size(connection: Connection) -> int | None:
    """Dimensions of the table, None if there is none."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.exec_driver_sql(SIZE, (TABLE,)).scalar()


def lacks_vectors(store: Store) -> bool:
    """Whether a server could have the table and has none."""
    with store.read() as connection:
        return is_postgres(store.engine) and find_size(connection) is None


def find_last_vector(connection: Connection) -> int:
    return int(connection.exec_driver_sql(f"SELECT max(id) FROM {TABLE}").scalar() or 0)


def count_vectors(connection: Connection) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {TABLE}").scalar() or 0)


def write_vectors(connection: Connection, ids: Sequence[int], vectors: NDArray[np.int32]) -> None:
    """In the transaction of `connection`, past its statements: they know no COPY, nor what goes wrong in one."""
    driver, dialect = connection.connection.driver_connection, connection.dialect
    assert driver is not None
    assert dialect.loaded_dbapi is not None
    try:
        with driver.cursor() as cursor, cursor.copy(WRITE) as copy:
            copy.write(pack_vectors(ids, vectors))
    except dialect.loaded_dbapi.Error as fault:
        raise DBAPIError(WRITE, None, fault) from fault


def read_vectors_between(connection: Connection, first: int, last: int) -> dict[int, NDArray[np.float64]]:
    rows = connection.exec_driver_sql(READ, (first, last))
    return {row[0]: np.fromstring(row[1][1:-1], sep=",") for row in rows}


def show_vector(vector: NDArray[Any]) -> str:
    """As pgvector reads it; integers in millionths are exact in its float32.

    >>> show_vector(np.array([600000, -800000], np.int32))
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
