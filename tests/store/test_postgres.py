"""What a store must keep on a PostgreSQL server as it does in a file, and what its operator is told of a server."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, insert, select
from sqlalchemy.engine import make_url
from typer.testing import CliRunner

from engine.recall import PaidRecall, find, play
from engine.running.test_watchdog import HOLDER
from postgres import Server, on_postgres
from weighbeam.cli.main import app
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import open_journal, view_journal
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.store import tables
from weighbeam.store.columns import escape_nul, restore_nul
from weighbeam.store.database import Store, connect
from weighbeam.store.memory import recall, remember

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x00\x01\x02%_\\"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
QUIET = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(value=VALUES)
def test_json_comes_back_to_the_bit(shared_store: Store, value) -> None:
    remember(shared_store, "any", [value])
    assert json.dumps(recall(shared_store, "any")) == json.dumps([value])


@QUIET
@given(texts=st.lists(TEXTS, unique=True, max_size=8), numbers=st.lists(NUMBERS, min_size=8, max_size=8))
@example(texts=["1"], numbers=[-0.0])
def test_texts_and_numbers_come_back_in_the_order_of_their_bytes(shared_store: Store, texts, numbers) -> None:
    rows = [{"key": text, "value": 1} for text in texts]
    seen = [{"mechanism": "m", "hotkey": text, "asked_at": at} for text, at in zip(texts, numbers, strict=False)]
    with shared_store.write() as connection:
        connection.execute(tables.memory.delete())
        connection.execute(tables.miners.delete())
        if texts:
            connection.execute(insert(tables.memory), rows)
            connection.execute(insert(tables.miners), seen)
    with shared_store.read() as connection:
        assert list(connection.scalars(select(tables.memory.c.key).order_by(tables.memory.c.key))) == sorted(texts)
        kept = dict(map(tuple, connection.execute(select(tables.miners.c.hotkey, tables.miners.c.asked_at))))
        for text in texts:
            assert connection.scalar(select(func.count()).where(tables.memory.c.key == text)) == 1
    assert {name: repr(at) for name, at in kept.items()} == {row["hotkey"]: repr(row["asked_at"] + 0.0) for row in seen}


@given(TEXTS, TEXTS)
def test_a_text_without_nul_keeps_its_order(one: str, other: str) -> None:
    assert restore_nul(escape_nul(one)) == one
    assert (escape_nul(one) < escape_nul(other)) == (one < other)
    assert "\x00" not in escape_nul(one)


def test_nothing_is_cut_off_and_large_numbers_fit(store: Store) -> None:
    long, many = "x" * 5000, 2**62
    with store.write() as connection:
        row = {"mechanism": "m", "code": long, "level": "info", "text": "nul \x00 inside", "at": 1.0}
        connection.execute(insert(tables.alerts), [row])
        round = {"id": long, "mechanism": "m", "state": "observed", "at": 1.0, "block": many, "body": "0"}
        connection.execute(insert(tables.rounds), [round])
    with store.read() as connection:
        assert connection.execute(select(tables.alerts.c.code, tables.alerts.c.text)).one() == (long, row["text"])
        assert connection.scalar(select(tables.rounds.c.block)) == many
        assert connection.scalar(select(func.count()).where(tables.alerts.c.id > many)) == 0


def test_a_read_sees_one_moment(store: Store) -> None:
    remember(store, "a", 1)
    query = select(tables.memory.c.value).where(tables.memory.c.key == "a")
    with store.read() as connection:
        assert connection.scalar(query) == 1
        remember(store, "a", 2)
        assert connection.scalar(query) == 1
    assert recall(store, "a") == 2


def test_writers_take_turns_and_lose_nothing(store: Store) -> None:
    remember(store, "count", 0)

    def work() -> None:
        for _ in range(10):
            with store.write() as connection:
                value = connection.scalar(select(tables.memory.c.value).where(tables.memory.c.key == "count"))
                connection.execute(tables.memory.update().values(value=value + 1))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert recall(store, "count") == 60


def test_an_empty_or_foreign_database_is_no_journal(postgres: Server) -> None:
    url = postgres.make_database("template0")
    for open_it in (open_journal, view_journal):
        with pytest.raises(WeighbeamError, match="empty_journal"):
            open_it(url)
    foreign = connect(url)
    with foreign.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE somebodys (id int)")
    for open_it in (open_journal, view_journal, Store):
        with pytest.raises(WeighbeamError, match="store_unusable"):
            open_it(url)
    foreign.dispose()


@on_postgres
def test_a_journal_to_look_at_cannot_be_written(store_url: str) -> None:
    view = view_journal(store_url)
    with pytest.raises(WeighbeamError, match=r"store_fault.*read-only"):
        remember(view, "a", 1)
    view.close()
    with Store(store_url).write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(WeighbeamError, match="older version"):
        view_journal(store_url)


def test_a_database_in_another_encoding_is_refused(postgres: Server) -> None:
    postgres.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(WeighbeamError, match=r"store_unusable.*LATIN1"):
        Store(postgres.url("latin"))
    postgres.run("DROP DATABASE latin WITH (FORCE)")


def test_what_is_wrong_with_a_server_is_told_without_its_password(postgres: Server, tmp_path: Path) -> None:
    told, name = {}, make_url(postgres.make_database()).database or ""
    places = {
        "right": postgres.tcp_url(name, postgres.password),
        "wrong": postgres.tcp_url(name, "sw0rdfish"),
        "missing": postgres.tcp_url("nowhere", postgres.password),
        "down": f"postgresql://me:sw0rdfish@127.0.0.1:1/x?host={tmp_path}",
        "option": f"{postgres.tcp_url(name, 'sw0rdfish')}?no_such=1",
    }
    for case, url in places.items():
        done = CliRunner().invoke(app, ["journal", "rounds", "--store", url])
        told[case] = done.output
        assert (done.exit_code == 0) == (case == "right"), done.output
        assert "sw0rdfish" not in done.output
        assert postgres.password not in done.output
        assert "Traceback" not in done.output
    assert "check user, password" in told["wrong"]
    assert "createdb" in told["missing"]
    assert "start the server" in told["down"]
    assert "write postgresql://" in told["option"]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:sw0rd@fish@127.0.0.1:1/x",
        "postgresql://me:sw0rdfish@127.0.0.1:port/x",
        "nosuch://me:sw0rdfish@h/x",
    ],
)
def test_a_url_that_is_none_shows_no_password(url: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_store_url") as caught:
        Store(url)
    assert "fish" not in str(caught.value)


def test_who_waits_too_long_for_another_writer_is_told(store_url: str) -> None:
    store = Store(f"{store_url}{'&' if '?' in store_url else '?'}timeout=0.2")
    with store.write(), pytest.raises(WeighbeamError, match=r"store_fault.*another program holds the store"):
        remember(store, "a", 1)
    remember(store, "a", 1)
    store.close()


@on_postgres
def test_a_backup_restored_elsewhere_is_the_same_journal(postgres: Server, store: Store, store_url: str) -> None:
    """As docs/guides/postgres.md says."""
    for number in range(3):
        play(Journal(store), PaidRecall(), number, 1e9 + number, {"a": "tide \x00 moon"})
    file, target = postgres.folder / "journal.dump", postgres.make_database("template0")
    postgres.call("pg_dump", "--format=custom", f"--file={file}", store_url)
    postgres.call(
        "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", f"--dbname={target}", str(file)
    )
    restored = open_journal(target)
    assert list_entries(restored) == list_entries(store)
    for one in (store, restored):
        play(Journal(one), PaidRecall(), 3, 1e9 + 3, {"a": "tide"})
        raise_alert(one)
    assert list_entries(restored) == list_entries(store)
    assert [one for one in replay(restored, find) if one.fault] == []
    restored.close()


def raise_alert(store: Store) -> None:
    """Numbers go on where they were."""
    row = {"mechanism": "m", "code": "c", "level": "info", "text": "t", "at": 1.0}
    with store.write() as connection:
        connection.execute(insert(tables.alerts), [row])


@on_postgres
def test_a_server_keeps_the_lock_while_its_holder_lives_and_not_longer(store: Store, store_url: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLDER, store_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        mine = HotkeyLock(store, "5Hot", now=lambda: 1e12)
        with pytest.raises(WeighbeamError, match=rf"hotkey_locked: process {holder.pid} "):
            mine.take()
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    for _ in range(100):
        try:
            mine.take()
            break
        except WeighbeamError:
            threading.Event().wait(0.05)
    mine.beat()
    mine.release()


@on_postgres
def test_a_lost_connection_is_noticed_and_the_lock_taken_again_unless_another_has_it(store: Store) -> None:
    first, second = HotkeyLock(store, "5Hot"), HotkeyLock(store, "5Hot")
    first.take()
    cut_connections(store)
    first.beat()
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        second.take()
    cut_connections(store)
    second.take()
    with pytest.raises(WeighbeamError, match="took over this hotkey"):
        first.check()
    second.check()
    second.release()
    with pytest.raises(WeighbeamError, match="took over this hotkey"):
        first.beat()


@on_postgres
def test_a_lock_that_the_server_keeps_for_a_connection_we_lost_is_waited_for(store: Store) -> None:
    """The network was away: the server has not noticed yet. Until it does nothing is weighed, and nobody gives up."""
    mine, ghost = HotkeyLock(store, "5Hot"), store.make_lock("5Hot")
    mine.take()
    cut_connections(store)
    assert ghost.take()
    for ask in (mine.beat, mine.check):
        with pytest.raises(WeighbeamError, match=r"store_fault.*within about a minute"):
            ask()
    ghost.release()
    mine.check()
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        HotkeyLock(store, "5Hot").take()
    mine.release()


def cut_connections(store: Store) -> None:
    kill = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
    with store.write() as connection:
        connection.exec_driver_sql(f"{kill} AND datname = current_database()").all()


@on_postgres
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_started_anew_loses_nothing_and_counts_nothing_twice(
    postgres: Server, store: Store, make_store_url: Callable[[], str], how: signal.Signals
) -> None:
    calm = Store(make_store_url())
    journal, lock = Journal(store), HotkeyLock(store, "5Hot")
    lock.take()
    for number in range(6):
        play(Journal(calm), PaidRecall(), number, 1e9 + number, {"a": "tide moon", "b": "tide"})
    for number in range(6):
        if number == 3:
            postgres.stop(how)
            with pytest.raises(WeighbeamError, match=r"store_fault.*start the server"):
                play(journal, PaidRecall(), number, 1e9 + number, {"a": "tide moon", "b": "tide"})
            with pytest.raises(WeighbeamError, match="store_fault"):
                lock.beat()
            postgres.start()
        play(journal, PaidRecall(), number, 1e9 + number, {"a": "tide moon", "b": "tide"})
    lock.beat()
    lock.release()
    assert list_entries(store) == list_entries(calm)
    calm.close()


def list_entries(store: Store) -> list[tuple[object, ...]]:
    with store.read() as connection:
        return list(map(tuple, connection.execute(select(tables.entries).order_by(tables.entries.c.sequence))))


def test_a_driver_that_is_missing_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(WeighbeamError, match=r"bad_store_url.*weighbeam\[postgres\]"):
        Store("postgresql://me:sw0rdfish@127.0.0.1:1/x")
