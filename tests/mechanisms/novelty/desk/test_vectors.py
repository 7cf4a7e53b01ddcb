"""The corpus on pgvector gives the answers of the embedded index to the unit, whatever the rows."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from postgres import Server, on_postgres, on_sqlite
from senses.adapters.corpus.made_rows import KINDS, Rows, make_rows
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk import search_vectors, vector_corpus
from weighbeam.mechanisms.novelty.desk.audit import compare_vectors
from weighbeam.mechanisms.novelty.desk.corpus import Corpus
from weighbeam.mechanisms.novelty.desk.piece_vectors import (
    TABLE,
    count_vectors,
    format_lowest,
    insert_vectors,
    select_dimensions,
    tune_scan,
)
from weighbeam.mechanisms.novelty.desk.pieces import count_pieces
from weighbeam.mechanisms.novelty.desk.vector_corpus import VectorCorpus, open_corpus
from weighbeam.mechanisms.novelty.tables import pieces
from weighbeam.store.database import Store

SCANS = ("pgvector", "flat", "int8-bound")
QUIET = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
D = 16


def add(corpus: Corpus, store: Store, rows: Rows, first: int = 1) -> None:
    """Contributions of few and of many pieces."""
    number = first
    with store.write() as connection:
        while len(rows):
            corpus.add(connection, number, rows[: number * 7 % 40 + 1])
            rows, number = rows[number * 7 % 40 + 1 :], number + 1


def ask(corpus: Corpus, store: Store, texts: list[Rows]) -> list[tuple[int, int] | None]:
    """Before the lock and under it, as a desk does, and as one that only checks: the same."""
    with store.read() as connection:
        checked = corpus.nearest(connection, texts)
    ahead = corpus.look_ahead(texts)
    with store.write() as connection:
        found = corpus.nearest(connection, texts, ahead)
    assert found == checked
    return [None if one is None else (one.contribution, one.product) for one in found]


@on_postgres
@QUIET
@given(
    st.sampled_from((1, 2, 17, 384)),
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 150), st.sampled_from(KINDS), st.integers(1, 12)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 2**32),
    st.sampled_from((1, 4, 32)),
)
def test_the_same_answers_as_the_embedded_index(store: Store, dimensions, steps, seed, kept) -> None:
    start_anew(store)
    corpora = {scan: open_corpus(store, dimensions, scan) for scan in SCANS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_vectors, "KEPT", kept)
        for number, (kind, added, asked_kind, asked) in enumerate(steps):
            writer = corpora[SCANS[number % 2]]
            add(writer, store, make_rows(kind, added, dimensions, seed % 7 + number // 2), first=1000 * number + 1)
            rows = make_rows(asked_kind, asked, dimensions, seed % 7 + number)
            texts = [rows[:1], rows[1:4], rows[4:]] if asked > 4 else [rows]
            answers = {scan: ask(corpus, store, texts) for scan, corpus in corpora.items()}
            assert answers["pgvector"] == answers["flat"] == answers["int8-bound"]


def start_anew(store: Store) -> None:
    with store.write() as connection:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {TABLE}")
        connection.execute(pieces.delete())


@on_postgres
@pytest.mark.parametrize("kind", ["equal", "near"])
def test_ten_thousand_ties_cost_no_more_memory(store: Store, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Every row may be the nearest: each is scored, a block at a time."""
    many, rows = open_corpus(store, D, "pgvector"), make_rows(kind, 30, D, 5)
    add(many, store, rows)
    repeat = "INSERT INTO pieces (contribution, vector, crc) SELECT contribution, vector, crc FROM pieces"
    with store.write() as connection:
        connection.exec_driver_sql(f"{repeat}, generate_series(1, 333)")
    asked, fetch = [], search_vectors.select_pieces

    def count(connection: Connection, wanted: list[int], dimensions: int) -> object:
        asked.append(len(wanted))
        return fetch(connection, wanted, dimensions)

    monkeypatch.setattr(search_vectors, "select_pieces", count)
    texts = [rows[:1], rows[7:8] * -1, np.zeros((1, D), np.int32)]
    assert ask(many, store, texts) == ask(open_corpus(store, D, "flat"), store, texts)
    assert max(asked) <= search_vectors.AT_ONCE
    assert sum(asked) > 10_000


@on_postgres
def test_many_queries_share_a_scan(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, scans, scan = make_rows("clustered", 1000, 384, 3), [], search_vectors.list_lowest
    corpora = {name: open_corpus(store, 384, name) for name in SCANS}
    with store.write() as connection:
        corpora["pgvector"].add(connection, 1, rows[:500])
        corpora["pgvector"].add(connection, 2, rows[500:])
    corpora["pgvector"].load()

    def count(connection: Connection, queries: Rows, *given: object) -> object:
        scans.append(len(queries))
        return scan(connection, queries, *given)

    monkeypatch.setattr(search_vectors, "list_lowest", count)
    texts = [make_rows("clustered", 35, 384, 4), *rows[5:40, None]]
    answers = {name: ask(corpus, store, texts) for name, corpus in corpora.items()}
    assert answers["pgvector"] == answers["flat"] == answers["int8-bound"]
    assert [size for size in scans if size > 1] == [32, 32, 6] * 2


@on_postgres
def test_workers_share_a_scan(store_url: str) -> None:
    """They come with 8 MB of a partition; here sooner."""
    store = Store(f"{store_url}&options=-c%20min_parallel_table_scan_size%3D256kB")
    open_corpus(store, 384, "pgvector")
    made = "array_fill(i, ARRAY[384])::vector FROM generate_series(1, 20000) AS i"
    with store.write() as connection:
        connection.exec_driver_sql(f"INSERT INTO {TABLE} SELECT i, {made}")
    for count in (1, 8):
        queries = make_rows("clustered", count, 384, 1)
        statement, given = format_lowest(queries, [0.0] * count, 32)
        with store.read() as connection:
            tune_scan(connection)
            ran = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", given).scalar()
        gather = ran[0]["Plan"]["Plans"][0]
        assert gather["Node Type"].startswith("Gather")
        assert gather["Workers Launched"] > 0
        assert "Parallel" in str(gather["Plans"])
        assert "Index" not in str(gather["Plans"])
    store.close()


@on_postgres
def test_it_is_turned_on_for_a_store_that_is_there_and_goes_on_where_it_stopped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, rows = open_corpus(store, D, "auto"), make_rows("mixed", 200, D, 3)
    add(plain, store, rows)
    monkeypatch.setattr(vector_corpus, "AT_ONCE", 30)
    write, calls = vector_corpus.insert_vectors, []

    def stop(connection: Connection, ids: list[int], vectors: Rows) -> None:
        write(connection, ids, vectors)
        calls.append(ids)
        if len(calls) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(vector_corpus, "insert_vectors", stop)
    with pytest.raises(KeyboardInterrupt):
        open_corpus(store, D, "pgvector").load()
    assert count_copies(store) == 90
    checked = open_corpus(store, D, "pgvector")
    with store.read() as connection:
        assert checked.nearest(connection, [rows[-9:]]) == plain.nearest(connection, [rows[-9:]])
        assert list(compare_vectors(connection)) == []
    assert checked.load() == checked.load() == count_copies(store) == 200
    add(plain, store, rows[:50], first=1000)
    assert checked.load() == count_copies(store) == 250


def count_copies(store: Store) -> int:
    with store.read() as connection:
        return count_vectors(connection)


@on_postgres
def test_pieces_that_come_between_the_scan_and_the_lock_count(store: Store) -> None:
    corpora = [open_corpus(store, D, scan) for scan in ("pgvector", "pgvector", "auto")]
    rows = make_rows("clustered", 3, D, 2)
    ahead = [corpus.look_ahead([rows[1:2]]) for corpus in corpora]
    for number, corpus in enumerate(corpora, start=1):
        add(corpus, store, rows[number - 1 : number], first=number)
    for corpus, early in zip(corpora, ahead, strict=True):
        with store.write() as connection:
            (near,) = corpus.nearest(connection, [rows[1:2]], early)
            assert near is not None
            assert near.contribution == 2


@on_postgres
@pytest.mark.parametrize(
    ("harm", "told", "stops"),
    [
        (f"DELETE FROM {TABLE} WHERE id = 3", "piece 3 is not in the table of vectors", "is not the pieces"),
        (
            f"INSERT INTO {TABLE} SELECT 99, vector FROM {TABLE} WHERE id = 3",
            "has a piece 99, which",
            "piece 99 .*missing",
        ),
        (f"UPDATE {TABLE} SET vector = -1 * 3 * vector", "piece 3 is another in the table of vectors", None),
        ("UPDATE pieces SET crc = crc + 1 WHERE id = 3", None, "piece 3 of the corpus is damaged"),
        ("DELETE FROM pieces WHERE id = 3", "has a piece 3, which is missing", "piece 3 .*missing"),
    ],
)
def test_damage_is_told_and_stops_payment(store: Store, harm: str, told: str | None, stops: str | None) -> None:
    corpus, rows = open_corpus(store, D, "pgvector"), make_rows("clustered", 5, D, 2)
    add(corpus, store, rows)
    corpus.load()
    with store.write() as connection:
        scale = f"(SELECT array_agg(-1)::vector FROM generate_series(1, {D}))"
        connection.exec_driver_sql(harm.replace("-1 * 3", scale))
    with store.read() as connection:
        faults = list(compare_vectors(connection))
    assert (faults == []) if told is None else any(told in fault for fault in faults)
    if stops is not None:
        with pytest.raises(WeighbeamError, match=f"corrupt_corpus: .*{stops}"):
            [one.look_ahead([rows[2:3]]) for one in (corpus, open_corpus(store, D, "pgvector"))]


@on_postgres
def test_a_write_that_fails_is_a_fault_of_the_store_and_leaves_nothing(store: Store) -> None:
    corpus, rows = open_corpus(store, D, "pgvector"), make_rows("clustered", 5, D, 2)
    add(corpus, store, rows)
    with pytest.raises(WeighbeamError, match=r"store_fault.*duplicate key"), store.write() as connection:
        insert_vectors(connection, [6, 5], rows[:2])
    assert count_copies(store) == 5


@on_postgres
def test_a_copy_that_is_dropped_is_made_anew(store: Store) -> None:
    rows = make_rows("clustered", 40, D, 2)
    add(open_corpus(store, D, "pgvector"), store, rows)
    with pytest.raises(WeighbeamError, match=f"corrupt_corpus.*DROP TABLE {TABLE}"):
        open_corpus(store, D + 1, "pgvector")
    with store.write() as connection:
        connection.exec_driver_sql(f"DROP TABLE {TABLE}")
    assert open_corpus(store, D, "pgvector").load() == count_copies(store) == 40


@on_sqlite
def test_a_file_has_no_pgvector(store: Store) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_scan.*set store.url to postgresql://"):
        open_corpus(store, D, "pgvector")
    with store.read() as connection:
        assert list(compare_vectors(connection)) == []


def test_who_may_not_make_the_extension_is_told_who_may(postgres: Server) -> None:
    postgres.run("CREATE ROLE modest LOGIN")
    url = postgres.make_database("template0")
    name = make_url(url).database
    postgres.run(f"ALTER DATABASE {name} OWNER TO modest")
    store = Store(url.replace("weighbeam@", "modest@"))
    with pytest.raises(WeighbeamError, match=r"no_pgvector.*administrator run CREATE EXTENSION vector"):
        open_corpus(store, D, "pgvector")
    with store.read() as connection:
        assert select_dimensions(connection) is None
        assert count_pieces(connection) == 0
    owner = Store(url)
    with owner.write() as connection:
        connection.exec_driver_sql("CREATE EXTENSION vector")
    owner.close()
    assert isinstance(open_corpus(store, D, "pgvector"), VectorCorpus)
    store.close()
    postgres.drop_databases()
    postgres.run("DROP ROLE modest")


@on_postgres
def test_a_long_vector_has_room(store: Store) -> None:
    for dimensions in (2000, 8192):
        start_anew(store)
        rows = make_rows("lopsided", 3, dimensions, 1)
        corpus = open_corpus(store, dimensions, "pgvector")
        add(corpus, store, rows)
        assert ask(corpus, store, [rows[2:]]) == ask(open_corpus(store, dimensions, "flat"), store, [rows[2:]])
