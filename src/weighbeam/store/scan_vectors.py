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
    """Rows not beyond the mark of every query, the lowest against any of them first; all others are not below an edge.

    Marks and `far` are compared to a fraction of one, and are integers or given with room for that.
    """
    statement, given = write_lowest(queries, marks, most)
    rows = connection.exec_driver_sql(statement, given).all()
    return [row.id for row in rows], float(rows[-1].below) if len(rows) == most else 0.0


def write_lowest(queries: Queries, marks: Sequence[float], most: int) -> tuple[str, tuple[Any, ...]]:
    """The statement and what it is given. What the first condition drops is never sorted, nor computed again."""
    within = " OR ".join(f"{FAR} <= %s::float8" for _ in queries)
    below = ", ".join(f"{FAR} - %s::float8" for _ in queries)
    given = _pair(queries, marks)
    return f"SELECT id, least({below}) AS below FROM {TABLE} WHERE {within} ORDER BY below LIMIT %s", (
        *given,
        *given,
        most,
    )


def stream_within(
    connection: Connection, queries: Queries, limits: Sequence[float], at_once: int
) -> Iterator[list[int]]:
    """Every row that is not beyond the limit of one of the queries, in blocks, however many those are."""
    within = " OR ".join(f"{FAR} <= %s::float8" for _ in queries)
    given = _pair(queries, limits)
    rows = connection.exec_driver_sql(
        f"SELECT id FROM {TABLE} WHERE {within}", given, execution_options={"yield_per": at_once}
    )
    for block in rows.partitions(at_once):
        yield sorted(row.id for row in block)


def _pair(queries: Queries, numbers: Sequence[float]) -> tuple[Any, ...]:
    return tuple(each for query, number in zip(queries, numbers, strict=True) for each in (show_vector(query), number))
