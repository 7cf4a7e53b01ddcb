"""What was read is kept while the store stands still, made once however many ask, and bounded."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.service.http import cache as fresh_module
from weighbeam.service.http.cache import StoreCache
from weighbeam.store.database import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'journal.db'}")


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still unless a test moves it."""
    told = [1000.0]
    monkeypatch.setattr(fresh_module, "time", SimpleNamespace(monotonic=lambda: told[0]))
    return told


class Maker:
    def __init__(self, seconds: float = 0.0) -> None:
        self.made, self.seconds, self.lock = 0, seconds, threading.Lock()

    def __call__(self) -> bytes:
        with self.lock:
            self.made += 1
            number = self.made
        sleep(self.seconds)
        return b"%d" % number


def change(store: Store) -> None:
    Alerts(store, lambda: 5.0).tell("stalled", "info", "x")


def test_what_was_read_is_kept_until_the_store_changes(store: Store) -> None:
    fresh, maker = StoreCache(store, look_seconds=0), Maker()
    assert [fresh.get(("a",), maker), fresh.get(("a",), maker), fresh.get(("b",), maker)] == [b"1", b"1", b"2"]
    version = fresh.version
    change(store)
    assert fresh.get(("a",), maker) == b"3"
    assert fresh.version != version


def test_a_version_is_looked_at_a_few_times_a_second(store: Store, now: list[float]) -> None:
    fresh, maker = StoreCache(store, look_seconds=0.3), Maker()
    fresh.get(("a",), maker)
    change(store)
    now[0] += 0.29
    assert fresh.get(("a",), maker) == b"1"
    now[0] += 0.02
    assert fresh.get(("a",), maker) == b"2"


def test_many_who_ask_at_once_are_answered_by_one_making(store: Store) -> None:
    fresh, maker = StoreCache(store), Maker(0.3)
    with ThreadPoolExecutor(16) as pool:
        given = list(pool.map(lambda _: fresh.get(("a",), maker), range(64)))
    assert set(given) == {b"1"}
    assert maker.made == 1


def test_a_refusal_reaches_all_and_is_not_kept(store: Store) -> None:
    fresh, maker = StoreCache(store), Maker(0.2)

    def refuse() -> bytes:
        maker()
        raise WeighbeamError("unknown_round", "no such round")

    def ask(_: int) -> str:
        with pytest.raises(WeighbeamError) as told:
            fresh.get(("a",), refuse)
        return told.value.code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {"unknown_round"}
    assert fresh.get(("a",), lambda: b"found") == b"found"


def test_memory_is_bounded(store: Store) -> None:
    fresh = StoreCache(store, max_bytes=20_000, largest=8000)
    for number in range(50):
        fresh.get((number,), lambda: b"x" * 4000)
    assert fresh._bytes <= 20_000
    assert len(fresh._kept) == 3
    fresh.get(("large",), lambda: b"x" * 9000)
    assert not [key for key in fresh._kept if "large" in key]


def test_what_is_kept_can_be_had_without_waiting_for_a_while(store: Store, now: list[float]) -> None:
    fresh, maker = StoreCache(store, look_seconds=0.3), Maker()
    assert fresh.peek(("a",)) is None
    fresh.get(("a",), maker)
    assert (fresh.peek(("a",)), fresh.peek(("b",))) == (b"1", None)
    now[0] += 0.35
    assert fresh.peek(("a",)) is None


def test_what_was_told_a_moment_ago_serves_when_too_many_ask(store: Store, now: list[float]) -> None:
    fresh, maker = StoreCache(store, look_seconds=0.05), Maker()
    fresh.get(("a",), maker)
    assert fresh.recall(("a",), crowded=False) == (200, b"1")
    change(store)
    now[0] += 0.1
    assert fresh.recall(("a",), crowded=False) is None, "nobody has looked at the store since"
    assert fresh.recall(("a",), crowded=True) == (200, b"1")
    fresh.get(("b",), maker)
    assert fresh.recall(("a",), crowded=False) is None
    assert fresh.recall(("a",), crowded=True) == (200, b"1")
    assert fresh.recall(("c",), crowded=True) is None
    assert fresh.get(("a",), maker) == b"3"
