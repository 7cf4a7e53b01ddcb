"""The corpus on pgvector gives the answers of the embedded index to the unit, whatever the rows."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert
from sqlalchemy.engine import make_url

from novelty.tiny_senses import DIMENSIONS, TinySenses
from postgres import Server, on_postgres, on_sqlite
from senses.corpus.made_rows import KINDS, Rows, make_rows
from weighbeam.core.errors import WeighbeamError
from weighbeam.novelty import search_vectors
from weighbeam.novelty.corpus import Corpus
from weighbeam.novelty.open_corpus import open_corpus
from weighbeam.novelty.pieces import count_pieces, find_last_piece
from weighbeam.store.database import Store
from weighbeam.store.novelty_tables import pieces
from weighbeam.store.scan_vectors import hurry, write_lowest
from weighbeam.store.vectors import TABLE, count_vectors, find_last_vector

SCANS = ("pgvector", "flat", "int8-bound")
QUIET = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
pytestmark = on_postgres


def add(corpus: Corpus, store: Store, rows: Rows, first: int = 1) -> None:
    """Contributions of one to three pieces."""
    number = first
    with store.write() as connection:
        while len(rows):
            corpus.add(connection, number, rows[: number % 3 + 1])
            number, rows = number + 1, rows[number % 3 + 1 :]


def ask(corpus: Corpus, store: Store, texts: list[Rows]) -> list[tuple[int, int] | None]:
    """Before the lock and under it, as a desk does, and as one that only checks: the same."""
    with store.read() as connection:
        checked = corpus.nearest(connection, texts)
    ahead = corpus.look_ahead(texts)
    with store.write() as connection:
        found = corpus.nearest(connection, texts, ahead)
    assert found == checked
    return [None if one is None else (one.contribution, one.product) for one in found]


@QUIET
@given(
    st.sampled_from((1, 2, 17, 384)),
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 150), st.sampled_from(KINDS), st.integers(1, 40)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 2**32),
    st.sampled_from((1, 4, 32)),
)
def test_the_same_answers_as_the_embedded_index(postgres: Server, store: Store, dimensions, steps, seed, kept) -> None:
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
