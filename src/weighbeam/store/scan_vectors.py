"""Read all vectors once, by as many workers as the server allows, for many queries together.

`far` is pgvector's negative inner product: computed in float32, so it proposes rows and decides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from weighbeam.store.vectors import TABLE, show_vector

FAR = "(vector <#> %s::vector)"
HURRY = """SELECT set_config('max_parallel_workers_per_gather', current_setting('max_parallel_workers'), true),
    set_config('min_parallel_table_scan_size', '512kB', true), set_config('jit', 'off', true),
    set_config('plan_cache_mode', 'force_custom_plan', true)"""
"""For this transaction: every worker the server has to give, and no query read from text again for every row."""
Queries = NDArray[np.int32]


def hurry(connection: Connection) -> None:
    connection.exec_driver_sql(HURRY)


def find_marks(connection: Connection, queries: Queries) -> list[float]:
    """For each query a `far` that few rows fall below: the lowest of one partition; of a single query, any will do."""
    if len(queries) == 1:
        return [0.0]
    lowest = ", ".join(f"min{FAR}" for _ in queries)
    asked = connection.exec_driver_sql(f"SELECT {lowest} FROM {TABLE}_0", tuple(map(show_vector, queries))).one()
    return [float(mark or 0.0) for mark in asked]


def list_lowest(
    connection: Connection, queries: Queries, marks: Sequence[float], most: int
) -> tuple[list[int], float | None]:
    """The rows that are lowest against the mark of any query, and an edge that all others are not below.

    The edge is None if there are no others. Marks and `far` are integers below 2⁵³, so nothing is rounded here.
    """
    statement, given = write_lowest(queries, marks, most)
    rows = connection.exec_driver_sql(statement, given).all()
    return [row.id for row in rows], float(rows[-1].below) if len(rows) == most else None


def write_lowest(queries: Queries, marks: Sequence[float], most: int) -> tuple[str, tuple[Any, ...]]:
    """The statement and what it is given."""
    below = ", ".join(f"{FAR} - %s::float8" for _ in queries)
    given = [each for query, mark in zip(queries, marks, strict=True) for each in (show_vector(query), mark)]
    return f"SELECT id, least({below}) AS below FROM {TABLE} ORDER BY below LIMIT %s", (*given, most)


def stream_within(
    connection: Connection, queries: Queries, limits: Sequence[float], at_once: int
) -> Iterator[list[int]]:
    """Every row that is not beyond the limit of one of the queries, in blocks, however many those are."""
    within = " OR ".join(f"{FAR} <= %s::float8" for _ in queries)
    given = [each for query, limit in zip(queries, limits, strict=True) for each in (show_vector(query), limit)]
    rows = connection.exec_driver_sql(
        f"SELECT id FROM {TABLE} WHERE {within}", tuple(given), execution_options={"yield_per": at_once}
    )
    for block in rows.partitions(at_once):
        yield sorted(row.id for row in block)
