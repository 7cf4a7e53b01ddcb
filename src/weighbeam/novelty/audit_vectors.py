"""Is the table of vectors what the pieces say? It is only a copy, but payments are found by it."""

from collections.abc import Iterator

import numpy as np
from sqlalchemy import Connection, select

from weighbeam.novelty.audit_pieces import is_damaged
from weighbeam.store.novelty_tables import pieces
from weighbeam.store.vectors import find_last_vector, find_size, read_vectors_between

AT_ONCE = 1000


def compare_vectors(connection: Connection) -> Iterator[str]:
    """What is off, in words; pieces behind its last row are not copied yet, which is no fault. Nothing on SQLite."""
    size = find_size(connection)
    if size is None:
        return
    last, end = 0, find_last_vector(connection)
    columns = (pieces.c.id, pieces.c.vector, pieces.c.crc)
    while last < end:
        query = select(*columns).where(pieces.c.id > last, pieces.c.id <= end).order_by(pieces.c.id).limit(AT_ONCE)
        rows = connection.execute(query).all()
        first, last = last + 1, rows[-1].id if len(rows) == AT_ONCE else end
        copied = read_vectors_between(connection, first, last)
        for row in rows:
            copy = copied.pop(row.id, None)
            if copy is None:
                yield f"piece {row.id} is not in the table of vectors"
            elif not is_damaged(row._asdict(), 4 * size) and not np.array_equal(np.frombuffer(row.vector, "<i4"), copy):
                yield f"piece {row.id} is another in the table of vectors"
        yield from (f"the table of vectors has a piece {id}, which is not there" for id in copied)
