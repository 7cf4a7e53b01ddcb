"""The lock per hotkey: one at a time, taken over only from the dead, and noticed when lost."""

import pytest

from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.store.database import Store


def test_a_second_validator_is_refused_and_told_who_runs(store: Store) -> None:
    first, second = HotkeyLock(store, "5Hot"), HotkeyLock(store, "5Hot")
    first.take()
    with pytest.raises(WeighbeamError, match=r"hotkey_locked.*runs a validator"):
        second.take()
    HotkeyLock(store, "5Other").take()
    first.take()
    first.release()
    second.take()


@on_sqlite
def test_only_the_dead_lose_it_and_they_notice(store: Store) -> None:
    now = [1000.0]
    first = HotkeyLock(store, "5Hot", now=lambda: now[0])
    second = HotkeyLock(store, "5Hot", now=lambda: now[0])
    first.take()
    now[0] += 119
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        second.take()
    first.beat()
    now[0] += 119
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        second.take()
    now[0] += 1
    second.take()
    with pytest.raises(WeighbeamError, match="took over this hotkey"):
        first.beat()
    first.release()
    second.beat()
