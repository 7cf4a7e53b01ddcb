"""The corpus on a server with pgvector, and the choice between it and the embedded index.

A scan of millions takes a while, and must not hold the store's lock. So everything up to some piece is searched before
the lock, as it was at one moment; under it only the pieces that came since are compared, in integers. Those that the
table of vectors does not have yet, because an embedded desk wrote them, are compared the same way.
"""

import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.corpus import (
    Corpus,
    CorpusLookahead,
    NearestContribution,
    StoreCorpus,
    choose_nearest,
)
from weighbeam.mechanisms.novelty.desk.piece_vectors import (
    ANEW,
    count_vectors,
    insert_vectors,
    open_vectors,
    select_last_vector,
)
from weighbeam.mechanisms.novelty.desk.pieces import (
    count_pieces,
    insert_pieces,
    select_after,
    select_last_piece,
    select_owners,
    select_since,
    stream_after,
)
from weighbeam.mechanisms.novelty.desk.search_vectors import offer, search_vectors
from weighbeam.senses.ports.vectors import BestRows, check_rows
from weighbeam.store.database import Store

AT_ONCE = 2048


class VectorCorpus:
    """`piece_vectors` is a copy of the first so many `pieces`, written in the same transactions."""

    def __init__(self, store: Store, dimensions: int) -> None:
        open_vectors(store, dimensions)
        self._store = store
        self._dimensions = dimensions
        self._counted = (0, 0)
        self._checked = False
        self._lock = threading.Lock()

    def look_ahead(self, texts: Sequence[NDArray[np.int32]]) -> CorpusLookahead:
        self._catch_up()
        with self._store.read() as connection:
            return self._look(connection, np.concatenate(texts))

    def nearest(
        self, connection: Connection, texts: Sequence[NDArray[np.int32]], ahead: CorpusLookahead | None = None
    ) -> list[NearestContribution | None]:
        if not texts:
            return []
        queries = np.concatenate(texts)
        seen = self._look(connection, queries) if ahead is None else self._follow(connection, queries, ahead)
        found = choose_nearest(texts, seen.best.tell())
        owners = select_owners(connection, sorted({one[0] for one in found if one is not None}))
        return [None if one is None else NearestContribution(owners[one[0]], one[1]) for one in found]

    def add(self, connection: Connection, contribution: int, vectors: NDArray[np.int32]) -> None:
        insert_pieces(connection, contribution, vectors)
        self._extend(connection)

    def count(self, connection: Connection) -> int:
        return count_pieces(connection)

    def size(self, connection: Connection) -> int:
        last, known = self._counted
        return known + count_pieces(connection, last)

    def load(self) -> int:
        """Pieces are never deleted, so only new ones are counted again."""
        self._catch_up()
        with self._lock, self._store.read() as connection:
            last, known = self._counted
            self._counted = select_last_piece(connection), known + count_pieces(connection, last)
            return self._counted[1]

    def since(self, connection: Connection, piece: int) -> list[tuple[int, int]]:
        return select_since(connection, piece)

    def _look(self, connection: Connection, queries: NDArray[np.int32]) -> CorpusLookahead:
        """Everything, in this one transaction: the table to its last row, then the pieces behind it."""
        check_rows(queries, self._dimensions)
        seen = CorpusLookahead(select_last_vector(connection), BestRows(len(queries)))
        if seen.last:
            search_vectors(connection, queries, seen.best)
        return self._follow(connection, queries, seen)

    def _follow(self, connection: Connection, queries: NDArray[np.int32], seen: CorpusLookahead) -> CorpusLookahead:
        last = seen.last
        for found in stream_after(connection, last, self._dimensions, AT_ONCE):
            offer(seen.best, queries, found)
            last = found.ids[-1]
        return CorpusLookahead(last, seen.best)

    def _catch_up(self) -> None:
        """Copy missing rows, a block at a time; after an interruption it continues from there."""
        while self._is_behind():
            with self._store.write() as connection:
                self._extend(connection)

    def _is_behind(self) -> bool:
        with self._store.read() as connection:
            last = select_last_vector(connection)
            if not self._checked:
                self._check(connection, last)
            return last < select_last_piece(connection)

    def _check(self, connection: Connection, last: int) -> None:
        """Once: a copy that lost rows, in a restore that failed halfway, would pay for what is old."""
        if count_vectors(connection) != count_pieces(connection) - count_pieces(connection, last):
            raise WeighbeamError("corrupt_corpus", "the table of vectors is not the pieces that it copies", ANEW)
        self._checked = True

    def _extend(self, connection: Connection) -> None:
        """The next pieces in order, so that none is left out; not more than a block, because somebody waits."""
        found = select_after(connection, select_last_vector(connection), self._dimensions, AT_ONCE)
        check_rows(found.vectors, self._dimensions)
        insert_vectors(connection, found.ids, found.vectors)


CorpusScan = Literal["auto", "flat", "int8-bound", "pgvector"]


def open_corpus(store: Store, dimensions: int, scan: CorpusScan) -> Corpus:
    """All scans give the same answers; `pgvector` needs a store on PostgreSQL."""
    if scan == "pgvector":
        return VectorCorpus(store, dimensions)
    return StoreCorpus(store, dimensions, scan)
