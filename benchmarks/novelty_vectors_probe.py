"""The corpus on a PostgreSQL server of its own, searched by pgvector and embedded: `ROWS`. Prints one JSON object."""

import json
import sys
import time
import zlib
from typing import Any

from sqlalchemy import insert

from benchmarks.measure import time_alternately, time_once
from benchmarks.novelty_index_probe import BATCH, DIMENSIONS, QUERIES, ROWS, Rows, make_rows
from postgres import open_server
from weighbeam.mechanisms.novelty.desk.corpus import Corpus
from weighbeam.mechanisms.novelty.desk.piece_vectors import TABLE
from weighbeam.mechanisms.novelty.desk.pieces import encode_vector
from weighbeam.mechanisms.novelty.desk.search_vectors import TOGETHER
from weighbeam.mechanisms.novelty.desk.vector_corpus import open_corpus
from weighbeam.mechanisms.novelty.tables import pieces
from weighbeam.store.database import Store

LAPS, TIMES = 9, 5
ALONE = "&options=-c%20max_parallel_workers_per_gather%3D0"
BYTES = f"SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = '{TABLE}'::regclass"


def main(count: int) -> None:
    with open_server(["shared_buffers=2GB"]) as server:
        url = server.make_database("template0")
        print(json.dumps(measure(Store(url), Store(url + ALONE), count)))


def measure(store: Store, alone: Store, count: int) -> dict[str, Any]:
    fill(store, count)
    queries = next(make_rows(QUERIES, BATCH))
    parallel, flat = open_corpus(store, DIMENSIONS, "pgvector"), open_corpus(store, DIMENSIONS, "flat")
    filled, serial = time_once(parallel.load), open_corpus(alone, DIMENSIONS, "pgvector")
    texts = [query[None] for query in queries]
    with store.read() as connection:
        wanted = flat.nearest(connection, texts)
        wrong = sum(a != b for a, b in zip(parallel.nearest(connection, texts), wanted, strict=True))
        size = int(connection.exec_driver_sql(BYTES).scalar() or 0)
        log = int(connection.exec_driver_sql("SELECT pg_total_relation_size('pieces')").scalar() or 0)
    one, embedded = time_alternately(ask(serial, alone, queries[:1]), ask(flat, store, queries[:1]), LAPS)
    many, locked = time_once(ask(serial, alone, queries[:TOGETHER])), time_lock(serial, alone, queries[:1])
    multiply(store, count)
    shared, long = time_alternately(ask(parallel, store, queries[:1]), ask(serial, alone, queries[:1]), LAPS)
    return {
        "wrong": wrong,
        "rate": count / filled,
        "bytes": size / count,
        "piece_bytes": log / count,
        "one": one,
        "batch": many / TOGETHER,
        "flat": embedded,
        "locked": locked,
        "serial": long,
        "parallel": shared,
    }


def fill(store: Store, count: int) -> None:
    """Pieces as an embedded desk leaves them."""
    for number, rows in enumerate(make_rows(ROWS, count), start=1):
        vectors = [encode_vector(row) for row in rows]
        made = [{"contribution": number, "vector": vector, "crc": zlib.crc32(vector)} for vector in vectors]
        with store.write() as connection:
            connection.execute(insert(pieces), made)


def multiply(store: Store, count: int) -> None:
    """Every row five times: five are as near as one, and a scan is as long as it would be."""
    again = f"CROSS JOIN generate_series(1, {TIMES - 1}) AS i WHERE id <= {count}"
    with store.write() as connection:
        for table, columns in (("pieces", "contribution, vector, crc"), (TABLE, "vector")):
            rows = f"SELECT id + i * {2 * count}, {columns} FROM {table} {again}"
            connection.exec_driver_sql(f"INSERT INTO {table} (id, {columns}) {rows}")


def ask(corpus: Corpus, store: Store, queries: Rows) -> Any:
    def search() -> None:
        with store.read() as connection:
            corpus.nearest(connection, [queries])

    return search


def time_lock(corpus: Corpus, store: Store, query: Rows) -> float:
    """How long one submission keeps the others waiting: what came since it looked, and its own piece."""
    laps = []
    for _ in range(LAPS):
        ahead = corpus.look_ahead([query])
        with store.write() as connection:
            start = time.perf_counter()
            corpus.nearest(connection, [query], ahead)
            corpus.add(connection, 1, query)
            laps.append(time.perf_counter() - start)
    return sorted(laps)[LAPS // 2]


if __name__ == "__main__":
    main(int(sys.argv[1]))
