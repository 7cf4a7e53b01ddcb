"""Seals follow what Weighbeam writes, and nothing else."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import (
    add_up_seals,
    collect_seals,
    delete_sealed,
    find_unsealed,
    insert_sealed,
    put_seal,
    sealing,
    select_sums,
    update_sums,
)

ALERTS = tables.alerts
ROW = {"at": 1.0, "mechanism": None, "code": "clock_skew", "level": "warning", "text": "a\x00b"}


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)


def add(store: Store, **changed: object) -> int:
    with store.write() as connection:
        return int(insert_sealed(connection, ALERTS, {**ROW, **changed})[0])


def insert_and_fail(store: Store) -> None:
    with store.write() as connection:
        insert_sealed(connection, ALERTS, ROW)
        connection.execute(ALERTS.insert().values(**ROW, id=1))


def find_faults(store: Store) -> list[str]:
    with store.read() as connection:
        assert select_sums(connection, ["alerts"]) == add_up_seals(connection, ["alerts"])
        return list(find_unsealed(connection, ALERTS))


def test_rows_that_are_written_through_seals_are_sound(store: Store) -> None:
    first, second = add(store), add(store, text="another")
    with store.write() as connection:
        with sealing(connection, ALERTS, [(first,)]):
            connection.execute(update(ALERTS).where(ALERTS.c.id == first).values(text="changed"))
        delete_sealed(connection, ALERTS, ALERTS.c.id == second)
    assert find_faults(store) == []


def test_what_is_changed_added_or_removed_is_named(store: Store) -> None:
    first, second = add(store), add(store)
    with store.write() as connection:
        connection.execute(update(ALERTS).where(ALERTS.c.id == first).values(at=2.0))
        connection.execute(ALERTS.insert().values(**ROW))
        connection.execute(delete(ALERTS).where(ALERTS.c.id == second))
    assert find_faults(store) == [
        f"row [{first}] was changed",
        f"row [{second + 1}] was added",
        f"row [{second}] was removed",
    ]


def test_writing_a_changed_row_again_does_not_hide_the_change(store: Store) -> None:
    first, second = add(store), add(store)
    with store.write() as connection:
        connection.execute(update(ALERTS).values(text="forged"))
    with store.write() as connection:
        with sealing(connection, ALERTS, [(first,)]):
            connection.execute(update(ALERTS).where(ALERTS.c.id == first).values(level="info"))
        delete_sealed(connection, ALERTS, ALERTS.c.id == second)
    assert find_faults(store) == [
        f"row [{first}] was changed before it was last written",
        f"row [{second}] was changed before it was removed",
    ]


def test_a_transaction_that_fails_leaves_no_seal(store: Store) -> None:
    add(store)
    with pytest.raises(IntegrityError):
        insert_and_fail(store)
    assert find_faults(store) == []
    with store.read() as connection:
        assert select_sums(connection, ["alerts"])["alerts"][0] == 1


KEYS = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(KEYS, st.sampled_from([None, "1" * 64, "2" * 64])), max_size=12))
def test_the_order_of_changes_does_not_matter(changes: list[tuple[str, str | None]]) -> None:
    """The sum is that of the seals that are left, however they came to be."""
    store = Store("sqlite://")
    try:
        for key, digest in changes:
            with store.write() as connection:
                put_seal(connection, "things", key, digest)
        with store.read() as connection:
            left = dict(connection.execute(select(tables.seals.c.key, tables.seals.c.digest)).all())
            assert left == {key: digest for key, digest in dict(changes).items() if digest}
            assert select_sums(connection, ["things"]) == add_up_seals(connection, ["things"])
    finally:
        store.close()


def test_many_seals_of_one_transaction_add_up(store: Store) -> None:
    with store.engine.begin() as connection, collect_seals(connection) as pending:
        for number in range(50):
            put_seal(connection, "things", str(number), f"{number:064}")
        update_sums(connection, pending)
        assert pending.before["things"][0] == 0
        assert pending.after["things"] == add_up_seals(connection, ["things"])["things"]
