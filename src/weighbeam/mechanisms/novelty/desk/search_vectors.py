"""The exact nearest piece by a scan that computes in float32.

Why no row is missed. Components are integers of at most 10⁶, exact in float32, so pgvector's inner product of d terms,
added in any order and fused or not, is off by at most ε = γ·|q|·max|x| (γ is d·2⁻²⁴ and a little; the proof is in
`senses/adapters/corpus/flat.py`).

The best of one partition sets a mark for each query. The scan gives every row that is not more than 2ε beyond it or,
if those are too many, the first of them and an edge that the others are beyond. What it gives is scored in integers.
If the best of that is higher by more than ε than what pgvector says of any other row, no other row can reach it, nor
tie with it. If not, a query of many is asked again alone. One that is alone has found the highest that pgvector says of
a row; every row of which it says no less than the best so far, less ε, is scored too, a block at a time. So near-ties
are slower in proportion to their number, and need no more memory.
"""

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from weighbeam.mechanisms.novelty.desk.piece_vectors import list_lowest, select_marks, stream_within, tune_scan
from weighbeam.mechanisms.novelty.desk.pieces import Pieces, select_pieces
from weighbeam.senses.adapters.corpus.flat import bound_error
from weighbeam.senses.ports.vectors import BestRows, dot_exact

TOGETHER = 32
"""Queries in one scan: by then a row costs more to multiply than to read."""
KEPT = 32
"""Rows kept for a query; about sixteen are below the mark that one of sixteen partitions sets."""
AT_ONCE = 2048
MULTIPLIED = 64


def search_vectors(connection: Connection, queries: NDArray[np.int32], best: BestRows) -> None:
    """Offer `best` the nearest of all rows of the table, which has some, for every query."""
    tune_scan(connection)
    for first in range(0, len(queries), TOGETHER):
        numbers = np.arange(first, min(first + TOGETHER, len(queries)))
        _search(connection, queries, numbers, best)


def offer(best: BestRows, queries: NDArray[np.int32], found: Pieces, numbers: NDArray[np.intp] | None = None) -> None:
    """Score pieces in integers for the queries of these numbers, or for all."""
    chosen = np.arange(len(queries)) if numbers is None else numbers
    places = np.array(found.ids, np.int64)
    for first in range(0, len(chosen), MULTIPLIED):
        part = chosen[first : first + MULTIPLIED]
        best.offer(part, places, dot_exact(queries[part], found.vectors))


def _search(connection: Connection, queries: NDArray[np.int32], numbers: NDArray[np.intp], best: BestRows) -> None:
    asked, dimensions = queries[numbers], queries.shape[1]
    errors = bound_error(asked)
    marks = np.array(select_marks(connection, asked)) + 2 * errors
    ids, edge = list_lowest(connection, asked, marks.tolist(), KEPT * len(asked))
    offer(best, queries, select_pieces(connection, sorted(ids), dimensions), numbers)
    unsettled = np.flatnonzero(best.products[numbers] <= errors - marks - edge)
    if len(asked) > 1:
        for place in unsettled:
            _search(connection, queries, numbers[place : place + 1], best)
    elif len(unsettled):
        limit = float(errors[0] - best.products[numbers[0]])
        for block in stream_within(connection, asked[0], limit, AT_ONCE):
            offer(best, queries, select_pieces(connection, block, dimensions), numbers)
