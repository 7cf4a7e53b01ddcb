"""An export says what the journal says, to the bit; it grows by what is new, and nothing breaks what is there."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest
from sqlalchemy import update

from engine.export.exported import (
    assert_equal_to_the_journal,
    name_files,
    read_all,
    read_duckdb,
    read_polars,
    read_quickly,
)
from engine.journal.test_same_on_both import HOTKEYS, HOUR, START, make_weigh_in_context
from engine.recall import PaidRecall, find, play
from engine.small_subnet import ALICE
from lab.golden_journal import JOURNAL, VERSIONS
from weighbeam.chain.local.blocks import advance
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.export import run
from weighbeam.engine.export.run import export_journal
from weighbeam.engine.export.schema import TABLES
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import digest_bytes
from weighbeam.store.database import Store

HOSTILE = (
    "../../outside",
    "'; DROP TABLE scores; --",
    "a\x00b",
    "\u202etxet\x1b[31m",
    "{{ 7*7 }}",
    "=cmd|' /C calc'!A0",
)
LONE = "half \ud800 a character"


@pytest.fixture
def golden() -> Store:
    store = view_journal(str(JOURNAL))
    yield store
    store.close()


@pytest.mark.parametrize("place", VERSIONS, ids=lambda place: place.name)
def test_every_row_is_what_the_journal_shows(place: Path, tmp_path: Path) -> None:
    store = view_journal(str(place / "journal.sqlite"))
    done = export_journal(store, tmp_path / "out")
    assert_equal_to_the_journal(tmp_path / "out", store, load_mechanism)
    for name, rows in read_all(tmp_path / "out").items():
        assert read_polars(tmp_path / "out", name) == rows
        assert done.state.rows[name] == len(rows)
        assert rows or (name, place.name) == ("submissions", "0.1.0")
    store.close()


def play_hours(context: Any, file: Any, hours: range) -> None:
    """Rounds with hostile names, and a weigh-in every fifth hour."""
    names = (*HOTKEYS[:4], *HOSTILE)
    for hour in hours:
        texts = {name: ("tide moon", "tide \x00", None)[(at + hour) % 3] for at, name in enumerate(names)}
        play(context.journal, PaidRecall(), hour, START + hour * HOUR, texts)
        if hour % 5 == 4:
            advance(file, 6)
            asyncio.run(weigh_in(context, START + hour * HOUR + 1))


def test_a_second_run_adds_only_what_is_new(make_store_url: Callable[[], str], tmp_path: Path) -> None:
    store, folder = Store(make_store_url()), tmp_path / "out"
    context, file = make_weigh_in_context(store, tmp_path)
    before: dict[Path, bytes] = {}
    for part, hours in enumerate((range(10), range(10, 13), range(13, 20)), 1):
        play_hours(context, file, hours)
        assert export_journal(store, folder).part == folder / "parts" / f"{part:06d}"
        assert export_journal(store, folder).part is None
        assert {path: path.read_bytes() for path in before} == before
        before = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    assert len(before) == 3 * len(TABLES)
    assert_equal_to_the_journal(folder, store, find)
    export_journal(store, tmp_path / "at-once")
    assert read_all(folder) == read_all(tmp_path / "at-once")
    assert set(HOSTILE) <= {row["hotkey"] for row in read_duckdb(folder, "answers")}
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path.parent / "outside").exists()
    store.close()


def move(store: Store, submission: int, **to: Any) -> None:
    with store.write() as connection:
        connection.execute(update(tables.submissions).where(tables.submissions.c.id == submission).values(**to))


def test_a_submission_is_exported_once_when_its_fate_is_known(tmp_path: Path) -> None:
    store, folder = Store(f"sqlite:///{tmp_path / 'journal.db'}"), tmp_path / "out"
    context, file = make_weigh_in_context(store, tmp_path)
    play_hours(context, file, range(10))
    move(store, 1, state="included")
    assert export_journal(store, folder).state.waiting == (1,)
    assert [row["id"] for row in read_duckdb(folder, "submissions")] == [2]
    assert export_journal(store, folder).part is None
    move(store, 1, state="failed", reason="weights_differ")
    done = export_journal(store, folder)
    assert (done.state.waiting, done.state.rows["submissions"], done.state.rows["rounds"]) == ((), 1, 0)
    assert [(row["id"], row["state"]) for row in read_duckdb(folder, "submissions")] == [
        (1, "failed"),
        (2, "confirmed"),
    ]
    store.close()


def test_entries_that_retention_removed_are_named(tmp_path: Path) -> None:
    store, folder = Store(f"sqlite:///{tmp_path / 'journal.db'}"), tmp_path / "out"
    context, file = make_weigh_in_context(store, tmp_path)
    play_hours(context, file, range(5))
    export_journal(store, folder)
    play_hours(context, file, range(5, 32))
    averaging = Averaging(ema_lookback_hours=10.0, db_retention_hours=20.0)
    assert clean_up(store, START + 32 * HOUR, averaging, ALICE.address, ALICE.sign).rounds > 6
    state = export_journal(store, folder).state
    ((first, last),) = state.missing
    rounds = [row["entry"] for row in read_duckdb(folder, "rounds")]
    weigh_ins = [row["entry"] for row in read_duckdb(folder, "weigh_ins")]
    assert sorted([*rounds, *weigh_ins, *range(first, last + 1)]) == list(range(1, state.entry + 1))
    new = export_journal(store, tmp_path / "new").state
    assert (new.missing, new.entry) == (((1, last),), state.entry)
    play_hours(context, file, range(32, 34))
    assert export_journal(store, folder).state.missing == state.missing
    store.close()


def kill_at(step: int, work: Callable[[], object]) -> bool:
    """Run in a process that is killed before its `step`-th write to the disk becomes durable or gets its name."""
    child = os.fork()
    if child == 0:
        left = step

        def count(original: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*given: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left <= 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return original(*given, **named)

            return counted

        os.fsync, os.rename, os.mkdir = count(os.fsync), count(os.rename), count(os.mkdir)
        run.list_entry_rows = count(run.list_entry_rows)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_a_run_that_is_killed_anywhere_leaves_the_last_state_whole(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    context, file = make_weigh_in_context(store, tmp_path)
    play_hours(context, file, range(3))
    export_journal(store, tmp_path / "out")
    whole = read_quickly(tmp_path / "out")
    play_hours(context, file, range(3, 5))
    export_journal(store, tmp_path / "at-once")
    wanted, step, states = read_quickly(tmp_path / "at-once"), 0, set()
    store.close()
    while True:
        step, folder = step + 1, tmp_path / f"out-{step}"
        shutil.copytree(tmp_path / "out", folder)
        killed = kill_at(step, partial(export_journal, view_journal(str(tmp_path / "journal.db")), folder))
        found = read_quickly(folder)
        assert found in (whole, wanted), step
        states.add((killed, found == wanted))
        left = view_journal(str(tmp_path / "journal.db"))
        export_journal(left, folder)
        left.close()
        assert read_quickly(folder) == wanted, step
        assert not (folder / "draft").exists()
        if not killed:
            break
    assert step > 12
    assert states == {(True, False), (True, True), (False, True)}


def test_what_a_miner_sent_stays_data(tmp_path: Path) -> None:
    """Lone surrogates and NUL survive in JSON; elsewhere they are escaped."""
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    said = {f"miner {at}": text for at, text in enumerate((*HOSTILE, LONE, "W" * 100_000))}
    play(Journal(store), PaidRecall(), 1, START, said)
    export_journal(store, tmp_path / "out")
    for read in (read_duckdb, read_polars):
        rows = read(tmp_path / "out", "answers")
        assert {row["hotkey"]: json.loads(row["payload"])["text"] for row in rows} == said
        assert all(row["payload"].isascii() for row in rows)
    store.close()


def change_content(store: Store, kind: str, part: str, change: Callable[[Any], Any]) -> None:
    """Rewrite a recorded round as somebody would who can compute digests and hashes."""
    from weighbeam.core.zstd import compress_each
    from weighbeam.engine.journal.hash_chain import GENESIS, hash_entry
    from weighbeam.store.blobs import select_blob

    with store.write() as connection:

        def keep(value: Any) -> str:
            data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
            row = {"digest": digest_bytes(data), "data": next(compress_each([data], 3))}
            connection.execute(tables.blobs.insert().values(**row))
            return row["digest"]

        row = connection.execute(tables.entries.select()).one()
        outcome = json.loads(select_blob(connection, row.body))
        body = json.loads(select_blob(connection, outcome["body"]))
        if kind == "outcome":
            outcome = change(outcome)
        elif part:
            body[part] = keep(change(json.loads(select_blob(connection, body[part]))))
        else:
            body = change(body)
        digest = keep({**outcome, "body": keep({**body, "forged": 1})})
        to = {"body": digest, "hash": hash_entry(GENESIS, row.kind, row.ref, digest)}
        connection.execute(update(tables.entries).values(**to))


@pytest.mark.parametrize(
    ("kind", "part", "change"),
    [
        ("body", "answers", lambda rows: [[*rows[0][:1], 2**70, *rows[0][2:]]]),
        ("body", "answers", lambda rows: [["short"]]),
        ("body", "answers", lambda rows: {"not": "a list"}),
        ("body", "task", lambda task: []),
        ("body", "", lambda body: {**body, "block": "soon"}),
        ("body", "", lambda body: {**body, "at": True}),
        ("body", "", lambda body: {**body, "departed": "all"}),
        ("outcome", "", lambda outcome: {**outcome, "standings": [[1, 2, 3]]}),
        ("outcome", "", lambda outcome: {**outcome, "scored": None}),
    ],
)
def test_a_forged_record_is_refused_and_nothing_is_kept(kind: str, part: str, change: Any, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    play(Journal(store), PaidRecall(), 1, START, {"a": "tide"})
    change_content(store, kind, part, change)
    with pytest.raises(WeighbeamError, match=r"bad_record.*entry 1 "):
        export_journal(store, tmp_path / "out")
    assert list((tmp_path / "out").rglob("*.parquet")) == []
    store.close()


def test_a_lone_surrogate_outside_json_is_escaped(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    play(Journal(store), PaidRecall(), 1, START, {"a": "tide"})
    change_content(store, "body", "answers", lambda rows: [[*rows[0][:5], LONE, None]])
    export_journal(store, tmp_path / "out")
    (row,) = read_duckdb(tmp_path / "out", "answers")
    assert row["reason"] == "half \\ud800 a character"
    store.close()


def test_a_broken_chain_is_refused(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    for number in (1, 2):
        play(Journal(store), PaidRecall(), number, START + number, {"a": "tide"})
    with store.write() as connection:
        connection.execute(update(tables.entries).where(tables.entries.c.sequence == 2).values(previous="f" * 64))
    with pytest.raises(WeighbeamError, match="bad_chain"):
        export_journal(store, tmp_path / "out")
    store.close()


def test_another_journal_is_refused(golden: Store, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    play(Journal(store), PaidRecall(), 1, START, {"a": "tide"})
    export_journal(golden, tmp_path / "out")
    before = read_quickly(tmp_path / "out")
    with pytest.raises(WeighbeamError, match="export_differs"):
        export_journal(store, tmp_path / "out")
    export_journal(store, tmp_path / "other")
    with pytest.raises(WeighbeamError, match="export_differs"):
        export_journal(golden, tmp_path / "other")
    assert read_quickly(tmp_path / "out") == before
    store.close()


def spoil_manifest(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    place = folder / "parts/000001/manifest.json"
    place.write_text(json.dumps(change(json.loads(place.read_text()))))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "notes.txt").write_text("mine"),
        lambda folder: (folder / "parts/000001").rename(folder / "parts/000002"),
        lambda folder: (folder / "parts/000001/scores.parquet").unlink(),
        lambda folder: (folder / "parts/000001/scores.parquet").write_bytes(b"PAR1"),
        lambda folder: (folder / "parts/000001/manifest.json").write_text("[" * 100_000),
        lambda folder: spoil_manifest(folder, lambda told: {**told, "weighbeam": "export/2"}),
        lambda folder: spoil_manifest(folder, lambda told: {**told, "entry": "all"}),
        lambda folder: spoil_manifest(folder, lambda told: []),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(spoil: Any, golden: Store, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    export_journal(golden, folder)
    spoil(folder)
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*.*"))
    with pytest.raises(WeighbeamError, match="bad_export"):
        export_journal(golden, folder)
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*.*")) == before


def test_two_runs_at_once_do_not_mix(golden: Store, tmp_path: Path) -> None:
    export_journal(golden, tmp_path / "out")
    with (tmp_path / "out/lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(WeighbeamError, match="export_busy"):
            export_journal(golden, tmp_path / "out")


def test_without_the_extra_one_error_says_what_to_type(
    golden: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(WeighbeamError, match=r"no_parquet.*pip install 'weighbeam\[parquet\]'"):
        export_journal(golden, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("limit", ["GROUP_ROWS", "GROUP_CHARACTERS"])
def test_rows_go_to_disk_in_groups(limit: str, golden: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, limit, 10 if limit == "GROUP_ROWS" else 3000)
    export_journal(golden, tmp_path / "small")
    told = pyarrow.parquet.read_metadata(tmp_path / "small/parts/000001/answers.parquet")
    rows = [told.row_group(at).num_rows for at in range(told.num_row_groups)]
    assert len(rows) > 10
    assert max(rows) <= 10
    monkeypatch.undo()
    export_journal(golden, tmp_path / "large")
    assert read_quickly(tmp_path / "small") == read_quickly(tmp_path / "large")


def test_a_full_disk_is_one_error(golden: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WeighbeamError, match=r"cannot_write.*No space left"):
        export_journal(golden, tmp_path / "out")
    monkeypatch.undo()
    assert export_journal(golden, tmp_path / "out").state.part == 1


def test_names_need_no_quotes_in_sql(golden: Store, tmp_path: Path) -> None:
    export_journal(golden, tmp_path / "out")
    with duckdb.connect() as connection:
        for name, columns in TABLES.items():
            listed = ", ".join(column.name for column in columns)
            found = connection.execute(f"SELECT {listed} FROM '{name_files(tmp_path / 'out', name)}'")
            assert found.fetchone() is not None
