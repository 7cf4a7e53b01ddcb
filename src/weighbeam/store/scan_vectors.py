"""Read all vectors once, by as many workers as the server gives a query, for many queries together.

`far` is pgvector's negative inner product: computed in float32, so it proposes rows and decides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from weighbeam.store.vectors import TABLE, show_vector

FAR = "(vector <#> %s::vector)"
HURRY = "SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)"
"""For this transaction: nothing compiled, which takes longer than it saves, and no query read from text again for every
row. When workers help, and how many, the server's operator has decided: as it comes, two from about 80,000 rows on."""
BEYOND = 1e13
"""Above every `far`."""
Queries = NDArray[np.int32]


def hurry(connection: Connection) -> None:
    connection.exec_driver_sql(HURRY)


def find_marks(connection: Connection, queries: Queries) -> list[float]:
    """For each query a `far` that few rows are below and one is at, if its partition has any: the lowest of one."""
    lowest = ", ".join(f"min{FAR}" for _ in queries)
    asked = connection.exec_driver_sql(f"SELECT {lowest} FROM {TABLE}_0", tuple(map(show_vector, queries))).one()
    return [BEYOND if mark is None else float(mark) for mark in asked]


def list_lowest(connection: Connection, queries: Queries, marks: Sequence[float], most: int) -> tuple[list[int], float]:
    """Rows that are not beyond the mark of every query, the furthest below any of them first; and an edge.

    Every other row is at least that far above all marks: 0, or less if there were more rows than `most`.
    """
    statement, given = write_lowest(queries, marks, most)
    rows = connection.exec_driver_sql(statement, given).all()
    return [row.id for row in rows], float(rows[-1].above) if len(rows) == most else 0.0


def write_lowest(queries: Queries, marks: Sequence[float], most: int) -> tuple[str, tuple[Any, ...]]:
    """The statement and what it is given. What the condition drops is neither computed again nor sorted."""
    within = " OR ".join(f"{FAR} <= %s::float8" for _ in queries)
    above = ", ".join(f"{FAR} - %s::float8" for _ in queries)
    pairs = [each for query, mark in zip(queries, marks, strict=True) for each in (show_vector(query), mark)]
    statement = f"SELECT id, least({above}) AS above FROM {TABLE} WHERE {within} ORDER BY above LIMIT %s"
    return statement, (*pairs, *pairs, most)


def stream_within(connection: Connection, query: Queries, limit: float, at_once: int) -> Iterator[list[int]]:
    """Every row that is not beyond the limit, in blocks, however many those are."""
    statement = f"SELECT id FROM {TABLE} WHERE {FAR} <= %s::float8"
    given = (show_vector(query), limit)
    rows = connection.exec_driver_sql(statement, given, execution_options={"yield_per": at_once})
    for block in rows.partitions(at_once):
        yield sorted(row.id for row in block)
