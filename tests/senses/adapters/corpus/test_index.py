"""Both indexes give the oracle's answer to the unit: on hostile rows, in any batch and block size, while they grow."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from senses.adapters.corpus.made_rows import KINDS, Rows, make_rows, search_naively
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.senses.adapters.corpus.flat import FlatIndex
from weighbeam.senses.adapters.corpus.int8_bound import MAX_WAITING, BoundIndex
from weighbeam.senses.adapters.corpus.open_index import GrowingIndex, open_index
from weighbeam.senses.ports.vectors import VectorIndex

SCANS = ("flat", "int8-bound", "growing")


class Shelf:
    """Exact rows as a database would keep them: it knows what was stored, and counts what was asked for."""

    def __init__(self, dimensions: int) -> None:
        self.rows = np.empty((0, dimensions), np.int32)
        self.asked: list[int] = []

    def store(self, rows: Rows) -> None:
        self.rows = np.concatenate([self.rows, rows])

    def fetch(self, places: np.ndarray) -> Rows:
        self.asked.append(len(places))
        return self.rows[places]


def build(scan: str, shelf: Shelf, block_rows: int = 16) -> VectorIndex:
    dimensions = shelf.rows.shape[1]
    if scan == "growing":
        return GrowingIndex(dimensions, shelf.fetch, switch_rows=40)
    if scan == "flat":
        return FlatIndex(dimensions, block_rows)
    return BoundIndex(dimensions, shelf.fetch, block_rows)


def fill(index: VectorIndex, shelf: Shelf, rows: Rows) -> None:
    shelf.store(rows)
    index.add(rows)


def ask(index: VectorIndex, queries: Rows) -> tuple[list[int], list[int]]:
    places, products = index.nearest(queries)
    assert places.dtype == products.dtype == np.int64
    return places.tolist(), products.tolist()


@settings(max_examples=150)
@given(
    st.sampled_from(SCANS),
    st.sampled_from((1, 2, 3, 17, 384)),
    st.sampled_from((1, 5, 16, 4096)),
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 30), st.sampled_from(KINDS), st.integers(1, 6)), max_size=6
    ),
    st.integers(0, 2**32),
)
def test_growing_and_asking_in_any_order(scan, dimensions, block_rows, steps, seed):
    shelf = Shelf(dimensions)
    index = build(scan, shelf, block_rows)
    for number, (kind, added, asked_kind, asked) in enumerate(steps):
        fill(index, shelf, make_rows(kind, added, dimensions, seed % 7 + number // 2))
        queries = make_rows(asked_kind, asked, dimensions, seed % 7 + number)
        assert len(index) == len(shelf.rows)
        assert ask(index, queries) == search_naively(shelf.rows, queries)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scan", ["flat", "int8-bound"])
def test_any_batch_gives_the_same(scan, kind):
    shelf = Shelf(384)
    rows = make_rows(kind, 300, 384, 5)
    shelf.store(rows)
    queries = np.concatenate([make_rows("lopsided", 20, 384, 5), make_rows("mixed", 40, 384, 5), rows[-10:]])
    wanted = search_naively(rows, queries)
    for block_rows in (128, 4096):
        index = build(scan, shelf, block_rows)
        index.add(rows)
        for size in (1, 2, 7, 64, 70):
            found = [index.nearest(queries[first : first + size]) for first in range(0, len(queries), size)]
            assert tuple(np.concatenate(each).tolist() for each in zip(*found, strict=True)) == wanted


def test_float32_alone_would_be_wrong():
    rows, queries = make_rows("near", 2000, 384, 1), make_rows("near", 40, 384, 1)
    wanted = search_naively(rows, queries)
    naive = (queries.astype(np.float32) @ rows.astype(np.float32).T).argmax(axis=1).tolist()
    assert naive != wanted[0]
    shelf = Shelf(384)
    for index in (FlatIndex(384), BoundIndex(384, shelf.fetch)):
        shelf.rows = rows
        index.add(rows)
        assert ask(index, queries) == wanted


@pytest.mark.parametrize("scan", ["flat", "int8-bound"])
def test_a_hundred_thousand_ties(scan):
    shelf = Shelf(16)
    index = build(scan, shelf, 16_384)
    fill(index, shelf, make_rows("equal", 100_000, 16, 3))
    better = shelf.rows[:1].copy()
    fill(index, shelf, make_rows("near", 3000, 16, 4))
    for queries in (better, shelf.rows[-5:], np.zeros((1, 16), np.int32)):
        assert ask(index, queries) == search_naively(shelf.rows, queries)
    assert max(shelf.asked, default=0) <= 2048


def test_ties_beyond_what_may_wait():
    shelf = Shelf(4)
    index = BoundIndex(4, shelf.fetch, block_rows=1000)
    fill(index, shelf, make_rows("near", 2 * MAX_WAITING, 4, 9))
    queries = make_rows("near", 3, 4, 9)
    assert ask(index, queries) == search_naively(shelf.rows, queries)
    assert sum(shelf.asked) >= 2 * MAX_WAITING


def test_few_exact_rows_are_read():
    shelf = Shelf(384)
    index = BoundIndex(384, shelf.fetch)
    fill(index, shelf, make_rows("clustered", 5000, 384, 11))
    queries = make_rows("clustered", 20, 384, 12)
    assert ask(index, queries) == search_naively(shelf.rows, queries)
    assert sum(shelf.asked) < 20 * 100


def test_the_switch_is_not_noticed():
    shelf = Shelf(8)
    index = GrowingIndex(8, shelf.fetch, switch_rows=50)
    queries = make_rows("mixed", 9, 8, 1)
    for number in range(60):
        fill(index, shelf, make_rows("mixed", 1, 8, number))
        assert index.scan == ("flat" if number < 49 else "int8-bound")
        assert ask(index, queries) == search_naively(shelf.rows, queries)


def test_opening():
    shelf = Shelf(3)
    assert isinstance(open_index(3), FlatIndex)
    assert isinstance(open_index(3, "flat", shelf.fetch), FlatIndex)
    assert isinstance(open_index(3, "int8-bound", shelf.fetch), BoundIndex)
    assert isinstance(open_index(3, "auto", shelf.fetch), GrowingIndex)
    for scan, fetch in (("int8-bound", None), ("hnsw", shelf.fetch)):
        with pytest.raises(WeighbeamError, match="bad_scan"):
            open_index(3, scan, fetch)
    for dimensions in (0, 8193):
        with pytest.raises(WeighbeamError, match="bad_row"):
            open_index(dimensions)


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize(
    "rows",
    [
        np.array([[MILLION, 0, 0]]),
        np.array([[1.0, 0.0, 0.0]], np.float32),
        np.array([MILLION, 0, 0], np.int32),
        np.array([[MILLION, 0]], np.int32),
        np.array([[0, MILLION, 0], [MILLION + 1, 0, 0]], np.int32),
        np.array([[-(2**31), 0, 0]], np.int32),
        np.array([[0, MILLION, 0], [999_899, 0, 0]], np.int32),
        np.array([[MILLION, 15_000, 0]], np.int32),
        np.array([[1, 0, 0]], np.int32),
    ],
)
def test_rows_that_are_refused_leave_no_trace(scan, rows):
    shelf = Shelf(3)
    index = build(scan, shelf)
    good = np.array([[0, 0, MILLION], [0, 0, 0]], np.int32)
    fill(index, shelf, good)
    for call in (index.add, index.nearest):
        with pytest.raises(WeighbeamError, match="bad_row"):
            call(rows)
    assert len(index) == 2
    assert ask(index, good) == ([0, 0], [MILLION**2, 0])
    assert ask(index, good[:0]) == ([], [])


def test_rows_read_back_must_be_those_added():
    rows = make_rows("clustered", 50, 32, 1)
    for fetch in (lambda places: -rows[places], lambda places: rows[places][:1, :4]):
        index = BoundIndex(32, fetch)
        index.add(rows)
        with pytest.raises(WeighbeamError, match="corpus_damaged"):
            index.nearest(rows[7:8])


def test_without_kernels_the_plain_scan_goes_on(monkeypatch):
    rows = make_rows("clustered", 50, 32, 1)
    monkeypatch.setitem(sys.modules, "numkong", None)
    with pytest.raises(WeighbeamError, match=r"kernel_fault.*pip install 'weighbeam\[corpus\]'"):
        BoundIndex(32, lambda places: rows[places])
    index = GrowingIndex(32, lambda places: rows[places], switch_rows=20)
    index.add(rows)
    assert index.scan == "flat"
    assert ask(index, rows[7:8])[0] == [7]


@pytest.mark.parametrize("kernel", ["cdist", "dots_packed"])
def test_a_processor_with_wrong_products_is_refused(kernel, monkeypatch):
    import numkong

    right = getattr(numkong, kernel)

    def saturate(rows, others, *args, out=None):
        given = right(rows, others, *args, out=out)
        np.asarray(given if out is None else out)[...] //= 2
        return given

    monkeypatch.setattr(numkong, kernel, saturate)
    with pytest.raises(WeighbeamError, match="kernel_fault"):
        BoundIndex(384, lambda places: np.empty((0, 384), np.int32))
