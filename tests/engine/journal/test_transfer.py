"""A journal moved to a server and back: the same to the bit, ready to go on, all of it or nothing."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, inspect
from typer.testing import CliRunner

from engine.journal.test_same_on_both import HOTKEYS, HOUR, SHOWN, START, make_weigh_in_context, read_rows
from engine.recall import PARAMS, PaidRecall, find, play
from engine.running.test_watchdog import HOLDER
from engine.small_subnet import ALICE
from lab.golden_journal import VERSIONS
from postgres import Server
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.cli.main import app
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import open_journal
from weighbeam.engine.journal.hash_chain import append_entry
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.journal.transfer import copy_journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights import weigh_in as run
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.store import tables
from weighbeam.store.database import Store, connect
from weighbeam.store.memory import remember
from weighbeam.store.transfer import list_tables


def play_hours(weigh_in_context: WeighInContext, file: ChainFile, hours: range) -> None:
    for hour in hours:
        texts = {name: ("tide moon", "tide \x00", None)[(place + hour) % 3] for place, name in enumerate(HOTKEYS)}
        play(weigh_in_context.journal, PaidRecall(), hour, START + hour * HOUR, texts)
        if hour % 10 == 9:
            advance(file, 6)
            asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR + 1))


def show(store: Store, shown: Any = SHOWN) -> dict[str, Any]:
    with store.read() as connection:
        return {table.name: read_rows(connection, table) for table in shown}


def list_broken(store: Store) -> list[Any]:
    return [one for one in replay(store, find) if one.fault]


def test_there_and_back_it_is_the_same_and_goes_on_alike(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a checkpoint, weigh-ins and submissions; weigh-ins are named by what they say, for once."""
    monkeypatch.setattr(run, "append_entry", lambda *given: append_entry(given[0], given[1], given[3][:32], given[3]))
    places = [str(tmp_path / "journal.db"), postgres.make_database("template0"), f"sqlite:///{tmp_path / 'back.db'}"]
    store = Store(f"sqlite:///{places[0]}")
    weigh_in_context, file = make_weigh_in_context(store, tmp_path)
    play_hours(weigh_in_context, file, range(30))
    averaging = Averaging(ema_lookback_hours=10.0, db_retention_hours=24.0)
    assert clean_up(store, START + 31 * HOUR, averaging, ALICE.address, ALICE.sign).rounds > 0
    HotkeyLock(store, "5Dead", now=lambda: START).take()
    store.close()
    file.close()
    for source, target in pairwise(places):
        done = copy_journal(source, target)
    stores = [open_journal(place) for place in places]
    assert done.last == show(stores[0])["entries"][-1]["hash"]
    assert show(stores[0], list_tables()) == show(stores[1], list_tables()) == show(stores[2], list_tables())
    assert [show(one, [tables.locks])["locks"] for one in stores[1:]] == [[], []]
    assert [list_broken(one) for one in stores] == [[], [], []]
    after = [go_on(one, tmp_path, number) for number, one in enumerate(stores)]
    assert after[0] == after[1] == after[2]
    assert len(after[0]["submissions"]) == 4


def go_on(store: Store, folder: Path, number: int) -> dict[str, Any]:
    """Ten hours more on a chain of its own, as it was."""
    shutil.copy(folder / "chain.sqlite", folder / f"chain-{number}.sqlite")
    file = ChainFile(folder / f"chain-{number}.sqlite")
    chain, ledger = LocalChain(file, ALICE), Ledger(store, "paid-recall")
    play_hours(WeighInContext(PaidRecall(), PARAMS, Journal(store), ledger, chain, ALICE.address), file, range(30, 40))
    assert list_broken(store) == []
    shown = show(store)
    store.close()
    return shown


@pytest.mark.parametrize("place", VERSIONS, ids=lambda place: place.name)
def test_a_journal_of_an_older_version_is_copied_up_to_date(postgres: Server, place: Path) -> None:
    target = postgres.make_database("template0")
    done = CliRunner().invoke(app, ["journal", "copy", str(place / "journal.sqlite"), target, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["rows"]["entries"] == told["entries"] > 0
    assert CliRunner().invoke(app, ["replay", "--verify", "--store", target]).exit_code == 0


@pytest.fixture(params=["to a server", "to a file"])
def route(request: pytest.FixtureRequest, postgres: Server, tmp_path: Path) -> tuple[str, str]:
    """A journal of three rounds, and an empty place."""
    server = request.param == "to a server"
    source = f"sqlite:///{tmp_path / 'source.db'}" if server else postgres.make_database()
    store = Store(source)
    for number in range(3):
        play(Journal(store), PaidRecall(), number, START + number, {"a": "tide moon"})
    store.close()
    return source, postgres.make_database("template0") if server else str(tmp_path / "target.db")


def is_empty(place: str) -> bool:
    if "://" not in place:
        return list(Path(place).parent.glob("target.db*")) == []
    engine = connect(place)
    found = inspect(engine).get_table_names()
    engine.dispose()
    return not found


def test_a_place_that_holds_anything_is_refused_and_stays(route: tuple[str, str], tmp_path: Path) -> None:
    source, target = route
    engine = connect(target if "://" in target else f"sqlite:///{target}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE somebodys (id int)")
    with pytest.raises(WeighbeamError, match="store_not_empty"):
        copy_journal(source, target)
    assert inspect(engine).get_table_names() == ["somebodys"]
    engine.dispose()
    with pytest.raises(WeighbeamError, match="store_not_empty"):
        copy_journal(source, source)
    with pytest.raises(WeighbeamError, match="no_such_file"):
        copy_journal(str(tmp_path / "nothing"), target)


def test_what_is_interrupted_leaves_nothing_and_can_be_done_again(route: tuple[str, str]) -> None:
    source, target = route

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_journal(source, target, stop)
    assert is_empty(target)
    copy_journal(source, target)


KILLED = """
import os, signal, sys
from weighbeam.engine.journal.transfer import copy_journal

def die(done, total):
    if done > total // 2:
        os.kill(os.getpid(), signal.SIGKILL)

copy_journal(*sys.argv[1:], die)
"""


def test_a_copy_that_is_killed_keeps_nobody_from_copying_again(route: tuple[str, str]) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED, *route], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert copy_journal(*route).entries == 3


@contextmanager
def held(url: str) -> Iterator[int]:
    """A process that runs as a validator."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLDER, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        try:
            yield holder.pid
        finally:
            holder.kill()


def test_while_its_validator_runs_it_is_not_copied(route: tuple[str, str]) -> None:
    with held(route[0]) as process:
        done = CliRunner().invoke(app, ["journal", "copy", *route])
        assert done.exit_code == 2
        assert f"process {process} " in done.output
        assert "stop it" in done.output
    assert is_empty(route[1])
    done = CliRunner().invoke(app, ["journal", "copy", *route])
    assert done.exit_code == 0, done.output
    assert "the chain of 3 entries holds" in done.output


def test_what_is_written_meanwhile_is_not_left_behind(route: tuple[str, str]) -> None:
    source, target = route
    writing, told = Store(source), iter(range(1))

    def write(*_: int) -> None:
        if next(told, None) is not None:
            remember(writing, "late", 1)

    with pytest.raises(WeighbeamError, match="journal_changed"):
        copy_journal(source, target, write)
    assert is_empty(target)
    writing.close()


def test_a_broken_chain_is_not_moved(route: tuple[str, str]) -> None:
    source, target = route
    store = Store(source)
    with store.write() as connection:
        connection.execute(tables.entries.update().where(tables.entries.c.sequence == 2).values(ref="other"))
    store.close()
    with pytest.raises(WeighbeamError, match=r"bad_chain: entry 2 .*its hash"):
        copy_journal(source, target)
    assert is_empty(target)


def test_a_large_journal_takes_little_memory(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    with store.write() as connection:
        for number in range(40):
            row = {"digest": f"{number:064}", "data": os.urandom(2**20)}
            connection.execute(insert(tables.blobs).values(**row))
    store.close()
    tracemalloc.start()
    assert copy_journal(str(tmp_path / "journal.db"), str(tmp_path / "target.db")).rows["blobs"] == 40
    limit = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert limit < 30 * 2**20
