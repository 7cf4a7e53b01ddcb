"""What lasts is kept however the store changes, for a while and within bounds; what may still change is not."""

from hypothesis import given
from hypothesis import strategies as st

from weighbeam.service.http.cache import LAST_SECONDS, LruCache

KEYS = st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 60))


def test_it_is_kept_until_its_time_is_over() -> None:
    now = [100.0]
    kept = LruCache(1000, 500, lambda: now[0])
    kept.keep(("a",), "made", 10)
    now[0] += LAST_SECONDS
    assert kept.find(("a",)) == "made"
    now[0] += 1
    assert kept.find(("a",)) is None


@given(st.lists(KEYS, max_size=60))
def test_it_never_holds_more_than_there_is_room_for(given: list[tuple[str, int]]) -> None:
    kept, sizes = LruCache(100, 50), {}
    for key, size in given:
        kept.keep(key, size, size)
        if size <= 50:
            sizes[key] = size
    found = {key: kept.find(key) for key in sizes}
    assert sum(size for size in found.values() if size is not None) <= 100
    assert all(found[key] in (None, size) for key, size in sizes.items())
    if given and given[-1][1] <= 50:
        assert found[given[-1][0]] == given[-1][1]
