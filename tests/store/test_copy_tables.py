"""Whatever a row holds, its copy on the other kind of database holds too, and so does the copy of that."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, null, select

from postgres import Server
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty import tables as novelty_tables
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.memory import recall, remember
from weighbeam.store.transfer import copy_table, list_tables, select_rows

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x00\x01\x02%_\\'\"{}"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | NUMBERS | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner | st.just(2**80), max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ALERTS = st.fixed_dictionaries(
    {"at": NUMBERS, "mechanism": st.none() | TEXTS, "code": TEXTS, "level": TEXTS, "text": TEXTS}
)
REQUESTS = st.fixed_dictionaries(
    {"mechanism": TEXTS, "at": NUMBERS, "state": TEXTS, "body": VALUES, "result": VALUES | st.just(null())}
)
PIECES = st.fixed_dictionaries(
    {"contribution": INTEGERS, "vector": st.binary(max_size=60), "crc": INTEGERS},
)
Places = tuple[Store, Store, Store]
USED = (tables.memory, tables.alerts, tables.requests, novelty_tables.pieces)


@pytest.fixture(scope="module")
def places(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """A file, a server, a file."""
    folder = tmp_path_factory.mktemp("copied")
    urls = (f"sqlite:///{folder / 'a.db'}", postgres.make_database(), f"sqlite:///{folder / 'b.db'}")
    stores = tuple(Store(url) for url in urls)
    yield stores
    for store in stores:
        store.close()


def empty(places: Places) -> None:
    for store in places:
        with store.write() as connection:
            for table in USED:
                connection.execute(table.delete())


def copy(source: Store, target: Store, table: Any) -> None:
    with source.read() as old, target.write() as new:
        copy_table(old, new, table, lambda _: None)


def write(store: Store, table: Any) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return [row for rows in select_rows(connection, table) for row in rows]


def read(store: Store, table: Any) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return list(map(tuple, connection.execute(select(table).order_by(*table.primary_key.columns))))


@settings(max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    memory=st.dictionaries(TEXTS, VALUES, max_size=4),
    alerts=st.lists(ALERTS, max_size=4),
    requests=st.dictionaries(TEXTS, REQUESTS, max_size=4),
    pieces=st.dictionaries(st.integers(-5, 2**62), PIECES, max_size=4),
)
def test_there_and_back_nothing_changes(places: Places, memory, alerts, requests, pieces) -> None:
    empty(places)
    first, server, last = places
    rows = {
        tables.memory: [{"key": key, "value": value} for key, value in memory.items()],
        tables.alerts: alerts,
        tables.requests: [{"id": name, "priority": 0, **row} for name, row in requests.items()],
        novelty_tables.pieces: [{"id": number, **row} for number, row in pieces.items()],
    }
    with first.write() as connection:
        for table, given_rows in rows.items():
            for row in given_rows:
                connection.execute(insert(table).values(**row))
    for table in USED:
        copy(first, server, table)
        copy(server, last, table)
        assert write(first, table) == write(last, table)
        assert repr(read(first, table)) == repr(read(server, table)) == repr(read(last, table))


def test_what_is_absent_is_not_null(places: Places) -> None:
    """In JSON they read alike; to a query they are two."""
    empty(places)
    row = {"mechanism": "m", "at": 1.0, "state": "waiting", "body": {}, "priority": 0}
    with places[0].write() as connection:
        connection.execute(insert(tables.requests).values(id="absent", result=null(), **row))
        connection.execute(insert(tables.requests).values(id="null", result=None, **row))
    copy(places[0], places[1], tables.requests)
    absent = select(tables.requests.c.id).where(tables.requests.c.result.is_(null()))
    with places[1].read() as connection:
        assert list(connection.scalars(absent)) == ["absent"]


def test_a_number_that_a_file_cannot_hold_is_not_copied_as_another(places: Places) -> None:
    empty(places)
    remember(places[1], "large", 2**70)
    with pytest.raises(WeighbeamError, match="copy_differs"):
        copy(places[1], places[2], tables.memory)
    assert recall(places[2], "large") is None
    remember(places[1], "large", [2**70])
    copy(places[1], places[2], tables.memory)
    assert json.dumps(recall(places[2], "large")) == json.dumps([2**70])


def test_a_server_goes_on_numbering_after_the_last_row(places: Places) -> None:
    empty(places)
    row = {"mechanism": "m", "code": "c", "level": "info", "text": "t", "at": 1.0}
    with places[0].write() as connection:
        connection.execute(insert(tables.alerts), [{"id": 5000, **row}])
    copy(places[0], places[1], tables.alerts)
    with places[1].write() as connection:
        done = connection.execute(insert(tables.alerts).values(**row))
        assert done.inserted_primary_key == (5001,)


def test_every_table_but_the_locks_is_copied(places: Places, tmp_path: Path) -> None:
    with places[0].read() as connection:
        names = {*connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars()}
    assert names - {table.name for table in list_tables()} == {"locks", "alembic_version"}
