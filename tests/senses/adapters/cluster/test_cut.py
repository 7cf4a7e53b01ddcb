"""However work is cut, every item is in one part, and no part is larger than it may be."""

from hypothesis import given
from hypothesis import strategies as st

from weighbeam.senses.adapters.cluster.models import EmbedderSpec, EntailmentSpec
from weighbeam.senses.adapters.cluster.pages import LANES, PART_URLS, PagesSpec
from weighbeam.senses.adapters.cluster.spec import WorkPart, cut_by_size


def list_rows(parts: list[WorkPart]) -> list[int]:
    return sorted(row for part in parts for row in part.rows)


@given(st.lists(st.integers(0, 200)), st.integers(1, 9), st.integers(1, 100))
def test_every_row_is_in_one_part_and_the_large_come_first(sizes: list[int], rows: int, size: int) -> None:
    parts = cut_by_size(sizes, rows, size)
    assert list_rows(parts) == list(range(len(sizes)))
    assert all(len(part.rows) <= rows for part in parts)
    assert all(sum(sizes[row] for row in part.rows) <= size or len(part.rows) == 1 for part in parts)
    flat = [sizes[row] for part in parts for row in part.rows]
    assert flat == sorted(flat, reverse=True)


@given(st.lists(st.text()))
def test_whatever_the_items_are_all_of_them_are_sent(texts: list[str]) -> None:
    pairs = list(zip(texts, texts, strict=True))
    whole = list(range(len(texts)))
    assert list_rows(EmbedderSpec("minilm-fp32", 384).cut(texts)) == whole
    assert list_rows(EntailmentSpec("nli-minilm").cut(pairs)) == whole
    parts = PagesSpec().cut([f"https://{text}" for text in texts])
    assert list_rows(parts) == whole
    assert all(len(part.rows) <= PART_URLS and part.lane is not None and part.lane < LANES for part in parts)


def test_hosts_of_a_domain_share_a_lane() -> None:
    urls = ["https://a.example.org/1", "https://b.example.org/2", "https://example.org:443/3", "https://other.net/"]
    first, second = PagesSpec().cut(urls)
    assert (first.rows, second.rows) == ((0, 1, 2), (3,))
