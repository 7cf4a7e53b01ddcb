"""A store at fault: a full disk, a lock held by others, a file half written. Nothing committed is lost."""

import asyncio
import pickle
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from engine.small_subnet import (
    CHUNKING,
    START,
    Fast,
    Observed,
    count_taken,
    hear_log,
    list_faults,
    list_rounds,
    make_chain,
    make_runner,
    make_runtime,
    observe_example,
    open_store,
    play,
    record,
    run_until,
    serve_miners,
)
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.organic import enqueue_request, select_request
from weighbeam.engine.rounds.recovery import finish_rounds
from weighbeam.engine.running import runtime as running
from weighbeam.engine.running.retention import is_cleanup_due
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store, connect
from weighbeam.store.postgres import wait_to_write


@pytest.fixture(scope="module")
def observed(senses: LocalSenses) -> Observed:
    return observe_example(senses)


@contextmanager
def full_disk(store: Store) -> Iterator[None]:
    """No connection of the store may make the file larger."""
    with store.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def limit(connection: sqlite3.Connection, *_: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def lift(connection: sqlite3.Connection, *_: Any) -> None:
        connection.execute("PRAGMA max_page_count = 1073741823")

    event.listen(store.engine, "checkout", limit)
    try:
        yield
    finally:
        event.remove(store.engine, "checkout", limit)
        event.listen(store.engine, "checkout", lift)


@contextmanager
def held(url: str) -> Iterator[None]:
    """Another program holds the write lock."""
    engine = connect(url)
    with engine.execution_options(immediate=True).connect() as other, other.begin() as work:
        wait_to_write(other)
        yield
        work.rollback()
    engine.dispose()


def open_impatient(url: str) -> Store:
    return Store(f"{url}{'&' if '?' in url else '?'}timeout=0.1")


def test_a_full_disk_is_told_with_its_cure_and_work_goes_on_after_it(tmp_path: Path, observed: Observed) -> None:
    store = open_store(tmp_path)
    journal = Journal(store)
    safe: list[str] = []

    def play_many() -> None:
        for number in range(100):
            play(journal, observed, f"r{number}")
            safe.append(f"r{number}")

    with full_disk(store):
        with pytest.raises(WeighbeamError, match=r"store_fault.*full") as caught:
            play_many()
        assert "free space" in caught.value.remedy
        assert list_rounds(store) == safe
        assert list_faults(store) == []
    half_done = finish_rounds(journal, {"chunking": CHUNKING})
    play(journal, observed, "last")
    assert list_rounds(store) == [*safe, *half_done, "last"]
    assert list_faults(store) == []


def test_a_round_recorded_before_the_disk_was_full_is_scored_after_it(tmp_path: Path, observed: Observed) -> None:
    store = open_store(tmp_path)
    journal = Journal(store)
    for number in range(60):
        record(journal, observed, f"r{number}", START + number)
    with full_disk(store), hear_log() as lines:
        scored = finish_rounds(journal, {"chunking": CHUNKING})
    assert len(scored) < 60
    assert all("remedy: free space" in line for line in lines)
    assert list_rounds(store) == scored
    rest = finish_rounds(journal, {"chunking": CHUNKING})
    assert sorted(list_rounds(store)) == sorted([*scored, *rest]) == sorted(f"r{number}" for number in range(60))
    assert list_faults(store) == []


LIMITED = """
import pickle, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from engine.small_subnet import open_store, play
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal

folder = Path(sys.argv[1])
observed = pickle.loads((folder / "observed").read_bytes())
store = open_store(folder)
journal = Journal(store)
play(journal, observed, "first")
largest = max(path.stat().st_size for path in folder.glob("journal.db*"))
resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 100_000, resource.RLIM_INFINITY))
for number in range(1000):
    try:
        play(journal, observed, f"r{number}")
    except WeighbeamError as fault:
        print("fault", fault.code, "|", fault.message, "|", fault.remedy)
        break
    print("safe", f"r{number}")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
play(journal, observed, "last")
print("safe last")
"""


def test_a_file_that_may_not_grow_is_a_fault_with_a_remedy_and_nothing_safe_is_lost(
    tmp_path: Path, observed: Observed
) -> None:
    """The kernel refuses the write itself (RLIMIT_FSIZE)."""
    (tmp_path / "observed").write_bytes(pickle.dumps(observed))
    command = [sys.executable, "-c", LIMITED, str(tmp_path), str(Path(__file__).parents[2])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = [line.split() for line in done.stdout.splitlines()]
    assert ["fault", "store_fault"] in [line[:2] for line in said], done.stdout
    assert "check the path and the disk" in done.stdout
    store = open_store(tmp_path)
    safe = {line[1] for line in said if line[0] == "safe"}
    assert "last" in safe
    assert safe <= set(list_rounds(store))
    assert list_faults(store) == []


def test_a_lock_held_by_others_is_told_and_nothing_is_half_done(store_url: str, observed: Observed) -> None:
    store = open_impatient(store_url)
    journal = Journal(store)
    play(journal, observed, "r0")
    with held(store_url):
        with pytest.raises(WeighbeamError, match=r"store_fault.*lock") as caught:
            record(journal, observed, "r1")
        assert "another program" in caught.value.remedy
        with pytest.raises(WeighbeamError, match="store_unusable") as caught:
            open_impatient(store_url)
        assert "another program" in caught.value.remedy
        assert list_rounds(store) == ["r0"]
    play(journal, observed, "r1")
    assert list_faults(store) == []


@pytest.mark.parametrize("kept", [0.9, 0.5, 0.1])
def test_a_file_cut_in_the_middle_is_refused_and_its_backup_works(
    tmp_path: Path, observed: Observed, kept: float
) -> None:
    store = open_store(tmp_path)
    play(Journal(store), observed, "r0")
    play(Journal(store), observed, "r1")
    store.close()
    path = tmp_path / "journal.db"
    shutil.copy(path, tmp_path / "backup")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    with pytest.raises(WeighbeamError, match=r"store_fault|store_unusable") as caught:
        _read_everything(tmp_path)
    assert "backup" in caught.value.remedy
    shutil.copy(tmp_path / "backup", path)
    assert _read_everything(tmp_path) == ["r0", "r1"]


def test_a_header_of_garbage_is_refused(tmp_path: Path, observed: Observed) -> None:
    store = open_store(tmp_path)
    play(Journal(store), observed, "r0")
    store.close()
    path = tmp_path / "journal.db"
    path.write_bytes(b"\xde\xad\xbe\xef" * 25 + path.read_bytes()[100:])
    with pytest.raises(WeighbeamError, match="store_unusable") as caught:
        open_store(tmp_path)
    assert "backup" in caught.value.remedy


def _read_everything(folder: Path) -> list[str]:
    store = open_store(folder)
    try:
        assert list_faults(store) == []
        return list_rounds(store)
    finally:
        store.close()


def test_a_log_whose_last_write_was_torn_loses_nothing_committed(tmp_path: Path, observed: Observed) -> None:
    log = _copy_with_log(tmp_path, observed)
    log.write_bytes(log.read_bytes() + log.read_bytes()[-4120:-2000])
    assert _read_everything(log.parent) == ["r0", "r1", "r2"]


@pytest.mark.parametrize("kept", [0.8, 0.4, 0.0])
def test_a_log_that_was_cut_leaves_a_sound_journal_that_goes_on(
    tmp_path: Path, observed: Observed, kept: float
) -> None:
    """What the disk itself has lost cannot come back; what is left is whole rounds, and replays."""
    log = _copy_with_log(tmp_path, observed)
    log.write_bytes(log.read_bytes()[: int(log.stat().st_size * kept)])
    store = open_store(log.parent)
    left = list_rounds(store)
    assert left == ["r0", "r1", "r2"][: len(left)]
    finish_rounds(Journal(store), {"chunking": CHUNKING})
    play(Journal(store), observed, "new")
    assert list_faults(store) == []


def _copy_with_log(folder: Path, observed: Observed) -> Path:
    """A store as a lost power supply leaves it: everything still in the write-ahead log; gives the log."""
    store = open_store(folder)
    for number in range(3):
        play(Journal(store), observed, f"r{number}")
    left = folder / "left"
    left.mkdir()
    for path in folder.glob("journal.db*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, left)
    store.close()
    return left / "journal.db-wal"


@pytest.fixture(scope="module")
def miners(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with serve_miners(tmp_path_factory.mktemp("miners"), senses) as endpoints:
        yield endpoints


def test_rounds_and_weigh_ins_survive_a_locked_store_and_say_what_to_do(
    tmp_path: Path, store_url: str, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "POLL_SECONDS", 0.02)
    store, file, clock = open_impatient(store_url), make_chain(tmp_path, miners), Fast()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    runtime.health.add(runner.name)
    runtime.lock.take()

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(running.keep_rounds(runtime, runner))
            group.create_task(running.keep_weighing(runtime, runner))

    async def live_through() -> list[str]:
        pulse = runtime.health.pulses[runner.name]
        with hear_log() as lines, held(store_url):
            await run_until(
                both(),
                lambda: pulse.last_fault == "store_fault" and sum("store_fault" in line for line in lines) > 3,
            )
        await run_until(both(), lambda: pulse.rounds > 0 and pulse.weigh_ins > 0)
        return lines

    lines = asyncio.run(live_through())
    assert all("remedy: another program holds the store" in line for line in lines if "store_fault: " in line)
    assert list_faults(store) == []


def test_a_store_that_cannot_be_read_ends_no_loop(
    tmp_path: Path, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is damaged under a running validator: it says so, again and again, until somebody mends it."""
    monkeypatch.setattr(running, "POLL_SECONDS", 0.02)
    store, file, clock = open_store(tmp_path), make_chain(tmp_path, miners), Fast()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    runtime.health.add(runner.name)
    store.close()
    (tmp_path / "journal.db").write_bytes(b"junk" * 5000)
    with hear_log() as lines:
        asyncio.run(run_until(running.keep_rounds(runtime, runner), lambda: len(lines) > 6))
        asyncio.run(run_until(running.keep_weighing(runtime, runner), lambda: len(lines) > 10))
    assert all("remedy: " in line for line in lines)
    assert any("restore a backup" in line for line in lines)


def test_clean_ups_survive_a_locked_store(
    tmp_path: Path, store_url: str, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "FAULT_SECONDS", 0.05)
    store, file, clock = open_impatient(store_url), make_chain(tmp_path, miners), Fast()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)

    def is_due() -> bool:
        return is_cleanup_due(store, clock.now(), runtime.averaging)

    assert is_due()
    with hear_log() as lines:
        with held(store_url):
            asyncio.run(run_until(running.keep_clean(runtime, runner), lambda: len(lines) > 1))
        assert all("remedy: another program" in line for line in lines)
        asyncio.run(run_until(running.keep_clean(runtime, runner), lambda: not is_due()))


def test_a_store_locked_to_the_end_hides_no_other_fault(
    tmp_path: Path, store_url: str, senses: LocalSenses, miners: dict[str, str]
) -> None:
    store, file, clock = open_impatient(store_url), make_chain(tmp_path, miners), Fast()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    runtime.health.patience = 1.0

    async def run_locked() -> None:
        loops = asyncio.create_task(running.keep_running(runtime, [runner]))
        await asyncio.sleep(0.2)
        with held(store_url):
            await loops

    with hear_log() as lines, pytest.raises(WeighbeamError, match="watchdog"):
        asyncio.run(run_locked())
    assert all("remedy: " in line for line in lines if "store_fault" in line)
    Store(store_url).close()


def test_a_request_whose_answer_could_not_be_written_gets_it_later_from_its_own_round(
    tmp_path: Path, store_url: str, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, file, clock = open_impatient(store_url), make_chain(tmp_path, miners), Fast()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    asked = enqueue_request(
        store, CHUNKING, runner.round_context.params, {"document": "One. Two.", "chunk_size": 50}, START
    )
    real, commit = Journal.commit, []

    def commit_into_a_lock(self: Journal, round_id: str, mechanism: Any) -> Any:
        commit.append(round_id)
        with held(store_url):
            return real(self, round_id, mechanism)

    monkeypatch.setattr(Journal, "commit", commit_into_a_lock)
    with hear_log():
        asyncio.run(running.play_once(runtime, runner))
    assert select_request(store, asked).state == "taken"
    monkeypatch.undo()
    asyncio.run(running.play_once(runtime, runner))
    answered = select_request(store, asked)
    assert (answered.state, answered.result["round"]) == ("done", commit[0])
    assert list_rounds(store)[0] == commit[0]
    assert list_faults(store) == []


def test_a_submission_that_could_not_be_noted_is_not_sent_again(
    tmp_path: Path, store_url: str, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain takes it, the store fails before `included`: the next weigh-in finds it on the chain."""
    store, file, clock = open_impatient(store_url), make_chain(tmp_path, miners), Fast()
    runner = make_runner(store, file, senses, clock)
    asyncio.run(runner.play_round())
    submit = runner.weigh_in_context.chain.submit

    async def submit_and_lock(*given: Any) -> Any:
        done = await submit(*given)
        stack.enter_context(held(store_url))
        return done

    with ExitStack() as stack, suppress(WeighbeamError):
        monkeypatch.setattr(runner.weigh_in_context.chain, "submit", submit_and_lock)
        asyncio.run(runner.weigh_in())
    assert runner.weigh_in_context.ledger.rows()[-1].state == "sent"
    monkeypatch.undo()
    again = asyncio.run(runner.weigh_in())
    assert again.settled.state == "confirmed"
    assert again.decision.reason == "rate_limited"
    assert count_taken(file) == 1
