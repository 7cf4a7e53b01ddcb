"""Several processes at one corpus on a server: ordered by their commits, whoever is shot leaves nothing half."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from mechanisms.novelty.desk.desk_worker import NODE, write_texts
from mechanisms.novelty.desk.desks import KEY, fill
from mechanisms.novelty.desk.tiny_senses import TinySenses
from postgres import Server, on_postgres
from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.accounts import count_all
from weighbeam.mechanisms.novelty.desk.audit import DeskAudit, compare_vectors, verify_export
from weighbeam.mechanisms.novelty.desk.bulk_import import import_lines
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.desk.export import encode_export
from weighbeam.mechanisms.novelty.desk.piece_vectors import count_vectors
from weighbeam.mechanisms.novelty.desk.record import select_record
from weighbeam.mechanisms.novelty.desk.vector_corpus import CorpusScan
from weighbeam.mechanisms.novelty.tables import contributions
from weighbeam.store.database import Store

pytestmark = on_postgres
COUNT = 6


def start(url: str, scan: CorpusScan, name: str, count: int, dies: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mechanisms.novelty.desk.desk_worker", url, scan, name, str(count), str(dies)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say_go(*workers: subprocess.Popen[str]) -> None:
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()


def find_faults(store: Store) -> list[str]:
    with store.read() as connection:
        found = DeskAudit(select_record(connection), NODE.address, deep=True).find_faults()
        return [*found, *compare_vectors(connection)]


def list_results(store: Store) -> list[Any]:
    """What became of every submission in the order of commits, by its place there."""
    c = contributions.c
    query = select(c.id, c.contributor, c.status, c.text_sha256, c.pieces, c.nearest, c.micro, c.units).order_by(c.id)
    with store.read() as connection:
        rows = connection.execute(query).all()
    places = {row.id: place for place, row in enumerate(rows)} | {None: None}
    return [(*row[1:5], places[row.nearest], row.micro, row.units) for row in rows]


def test_three_processes_give_what_one_desk_gives_in_the_same_order(
    store: Store, store_url: str, tmp_path: Path
) -> None:
    """Two search on the server, one in its own memory."""
    names: dict[str, CorpusScan] = {"ada": "pgvector", "bob": "pgvector", "cyd": "auto"}
    workers = [start(store_url, scan, name, COUNT) for name, scan in names.items()]
    say_go(*workers)
    said = [len(worker.communicate(timeout=90)[0].splitlines()) for worker in workers]
    assert said == [3 * COUNT + 1] * 3
    results = list_results(store)
    common = [digest_text(text) for text in write_texts("ada", COUNT) if text in write_texts("bob", COUNT)]
    for digest in common:
        assert Counter(row[1] for row in results if row[2] == digest) == {"paid": 1, "duplicate": 2}
    assert find_faults(store) == []

    texts = {digest_text(text): text for name in names for text in write_texts(name, COUNT)}
    alone = open_desk(Store(f"sqlite:///{tmp_path / 'alone.db'}"), TinySenses(), NODE)
    for row in results:
        alone.submit(row[0], texts[row[2]])
    assert list_results(alone.store) == results
    alone.store.close()


def test_who_is_shot_leaves_nothing_half(store: Store, store_url: str) -> None:
    """At any moment, and with all rows written that are not yet committed."""
    for life, (answered, dies) in enumerate(((7, 0), (4, 5))):
        worker = start(store_url, "pgvector", f"life-{life}", 40, dies)
        say_go(worker)
        assert worker.stdout is not None
        told = [worker.stdout.readline() for _ in range(answered)]
        if not dies:
            os.kill(worker.pid, signal.SIGKILL)
        assert worker.wait(30) == -signal.SIGKILL
        told += worker.stdout.readlines() if dies else []
        worker.stdout.close()
        assert len(told) == answered
        assert all('"status"' in line for line in told)
        desk = open_desk(store, TinySenses(), NODE, scan="pgvector")
        assert desk.submit("eve", f"A line that is written after life {life} has ended.")["status"] == "paid"
        assert find_faults(store) == []
        with store.read() as connection:
            assert count_vectors(connection) == count_all(store)["pieces"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_started_anew_forgets_no_neighbour(postgres: Server, store: Store, how: signal.Signals) -> None:
    desk = open_desk(store, TinySenses(), NODE, scan="pgvector")
    first = desk.submit("ada", "near hill: the line before the server was stopped")
    postgres.stop(how)
    with pytest.raises(WeighbeamError, match=r"store_fault.*start the server"):
        desk.submit("bob", "near hill: the line while the server was stopped")
    postgres.start()
    assert desk.submit("bob", "near hill: the line after the server was started")["nearest"] == first["id"]
    assert find_faults(store) == []


def test_everything_a_desk_does_and_its_export(store: Store, make_store_url: Callable[[], str], tmp_path: Path) -> None:
    desk = fill(open_desk(store, TinySenses(), KEY, scan="pgvector"))
    with store.read() as connection:
        file = tmp_path / "export.jsonl"
        file.write_bytes(b"".join(encode_export(select_record(connection), vectors=True)))
        assert list(compare_vectors(connection)) == []
    assert verify_export(file, KEY.address, deep=True)[1] == []
    other = open_desk(Store(make_store_url()), TinySenses(), NODE, scan="pgvector")
    with file.open("rb") as lines:
        assert import_lines(other, lines, "import", lambda _: None).imported == 4
    assert find_faults(other.store) == []
    assert (desk.count_pieces(), other.count_pieces()) == (5, 4)
    other.store.close()


@pytest.mark.parametrize("left_out", [(), ("--exclude-table=piece_vectors*", "--exclude-extension=vector")])
def test_a_backup_restored_elsewhere_knows_what_was_said(
    postgres: Server, store: Store, store_url: str, left_out: tuple[str, ...]
) -> None:
    """As docs/guides/postgres.md says."""
    fill(open_desk(store, TinySenses(), NODE, scan="pgvector"))
    file, target = postgres.folder / "corpus.dump", postgres.make_database("template0")
    postgres.call("pg_dump", "--format=custom", f"--file={file}", *left_out, store_url)
    restore = ["--no-owner", "--exit-on-error", "--single-transaction"]
    postgres.call("pg_restore", *restore, f"--dbname={target}", str(file))
    restored = Store(target)
    desks = [open_desk(one, TinySenses(), NODE, scan="pgvector", now=lambda: 9.0) for one in (store, restored)]
    first, second = (desk.submit("ada", "near hill: the line after the backup was restored") for desk in desks)
    assert first == second
    assert find_faults(restored) == []
    restored.close()


def test_a_check_waits_for_no_writer_and_writes_nothing(store: Store) -> None:
    plain, desk = (open_desk(store, TinySenses(), NODE, scan=scan) for scan in ("auto", "pgvector"))
    for number in range(5):
        plain.submit("ada", f"near hill: line {number} is from a desk of the other kind")
    with store.write():
        found = desk.check("near hill: what is asked while another writes")
    assert found == plain.check("near hill: what is asked while another writes")
    with store.read() as connection:
        assert count_vectors(connection) == 0


def test_the_scan_is_over_before_the_lock_is_taken(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from weighbeam.mechanisms.novelty.desk import vector_corpus

    desk = open_desk(store, TinySenses(), NODE, scan="pgvector")
    desk.submit("ada", "The first line of all, which others are compared with.")
    search, free = vector_corpus.search_vectors, []

    def look(*given: Any) -> None:
        free.append(try_lock(store))
        search(*given)

    monkeypatch.setattr(vector_corpus, "search_vectors", look)
    assert desk.submit("bob", "Another line, which is compared with the first.")["nearest"] == 1
    assert free == [True]


def try_lock(store: Store) -> bool:
    from weighbeam.store.postgres import WRITE_LOCK

    with store.engine.begin() as connection:
        return bool(connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({WRITE_LOCK})").scalar())
