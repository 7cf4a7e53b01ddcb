"""Rounds in Weights & Biases: what its file holds is what the journal says, once, and it holds up nothing."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall

from engine import recall
from engine.small_subnet import START, Turned, observe_example, play
from weighbeam.app.experiments import logger
from weighbeam.app.experiments.logger import KIND, Experiments, list_sinks, open_experiments
from weighbeam.app.experiments.run_file import BLOCK, FILE_HEADER, PIECE, load_history, load_records
from weighbeam.app.settings.sources import LoadedSettings, Settings
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import select_outcome
from weighbeam.engine.outbox.deliver import deliver_due
from weighbeam.store.database import Store

pytestmark = pytest.mark.skipif(find_spec("wandb") is None, reason="the extra wandb is not installed")
BETTER = {"chunking": "lower", "keyword-recall": "higher", "paid-recall": "higher"}
TEXTS = {"alice": "tide sun", "bob": "tide"}


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    yield opened
    opened.close()


@pytest.fixture
def nobody(monkeypatch):
    """An address that everything would go to, were anything sent; gives how often it was."""
    calls: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        stop = threading.Event()

        def count() -> None:
            while not stop.is_set():
                try:
                    listener.accept()[0].close()
                    calls.append(1)
                except TimeoutError:
                    pass

        thread = threading.Thread(target=count, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WANDB_BASE_URL"):
            monkeypatch.setenv(name, address)
        yield calls
        stop.set()
        thread.join(5)


def open_sink(store: Store, folder: Path, **more) -> Experiments:
    folder.mkdir(exist_ok=True)
    given = {"folder": str(folder), "project": "beam", "entity": None, "mode": "offline"}
    return Experiments(store, given, "5Validator", BETTER, **more)


def deliver(store: Store, sink: Experiments, clock: Turned) -> int:
    alerts = Alerts(store, clock.now)
    return asyncio.run(deliver_due(store, clock, alerts, {KIND: sink.log}))


def read_all(folder: Path) -> list[dict]:
    return [row for file in sorted(folder.rglob("*.wandb")) for row in load_history(file)]


def test_the_file_holds_what_the_journal_says_and_nothing_of_this_machine(store, senses, tmp_path, nobody) -> None:
    journal, clock = Journal(store, (KIND,)), Turned()
    observed = observe_example(senses)
    play(journal, observed, "c1")
    play(journal, observed, "c2", START + 300)
    recall.play(journal, recall.PaidRecall(), 7, START + 400, TEXTS)
    folder = tmp_path / "runs"
    sink = open_sink(store, folder)
    assert deliver(store, sink, clock) == 3
    held = {row["round"]: row for row in read_all(folder)}
    assert len(held) == 3
    for name, row in held.items():
        outcome = select_outcome(store, name)
        hotkeys = row["hotkeys"]
        assert (row["block"], row["at"], row["answers"]) == (outcome.block, outcome.at, len(outcome.scores))
        assert sorted(hotkeys.values()) == sorted(outcome.scores)
        assert {hotkeys[uid]: value for uid, value in row["rewards"].items()} == {
            key: value for key, value in outcome.scores.items() if value is not None
        }
        known = {key: value for key, value in outcome.standings.items() if value is not None} or outcome.scores
        scores = {hotkeys[uid]: value for uid, value in row["scores"].items()}
        assert scores == {key: known[key] for key in scores}
        assert scores
        places = {hotkeys[uid]: place for uid, place in row["rankings"].items()}
        sign = 1 if outcome.mechanism == "chunking" else -1
        assert sorted(places, key=places.__getitem__) == sorted(scores, key=lambda key: (sign * scores[key], key))
    again(store, sink, clock, folder)
    sink.close()
    assert len(read_all(folder)) == 3
    check_leaks(folder)
    assert nobody == []


def again(store: Store, sink: Experiments, clock: Turned, folder: Path) -> None:
    """Killed at any moment and asked for everything again, it writes nothing twice."""
    os.killpg(sink._process.pid, signal.SIGKILL)
    sink._process.wait(10)
    with store.write() as connection:
        connection.exec_driver_sql("UPDATE outbox SET state = 'waiting' WHERE kind = 'experiment'")
    assert deliver(store, sink, clock) == 3
    assert len(read_all(folder)) == 3


def check_leaks(folder: Path) -> None:
    record_of = import_module("wandb.proto.wandb_internal_pb2").Record
    for file in folder.rglob("*.wandb"):
        data = file.read_bytes()
        for leak in (str(folder), sys.executable, str(Path.cwd()), str(Path.home()) + "/", "wandb_worker"):
            assert leak.encode() not in data, leak
        for part in load_records(file):
            record = record_of()
            record.ParseFromString(part)
            assert record.WhichOneof("record_type") != "environment"
            assert not record.run.host or record.run.host == "validator"
    assert [path.name for path in folder.rglob("requirements.txt")] == []


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("import time; time.sleep(60)", "no reply within"),
        ("raise SystemExit(3)", "its process ended"),
        ("print('nonsense', flush=True); input(); input()", "its process ended"),
    ],
)
def test_one_that_hangs_breaks_or_babbles_leaves_a_warning_and_waits(store, senses, tmp_path, script, told) -> None:
    journal, clock = Journal(store, (KIND,)), Turned()
    recall.play(journal, KeywordRecall(), 7, START, TEXTS)
    sink = open_sink(store, tmp_path / "runs", seconds=1.0, command=(sys.executable, "-c", script))
    began = time.monotonic()
    deliver(store, sink, clock)
    assert time.monotonic() - began < 20
    with store.read() as connection:
        row = connection.exec_driver_sql("SELECT state, tries, fault FROM outbox").one()
    assert row[:2] == ("waiting", 1)
    assert told in row[2]
    assert sink._process is None


def test_new_rounds_wait_for_the_oldest_and_do_not_try_it_again(store, tmp_path) -> None:
    journal, clock = Journal(store, (KIND,)), Turned()
    sink = open_sink(store, tmp_path / "runs", seconds=5.0, command=(sys.executable, "-c", "raise SystemExit"))
    for number in range(3):
        recall.play(journal, KeywordRecall(), number, START, TEXTS)
        deliver(store, sink, clock)
    with store.read() as connection:
        tries = connection.exec_driver_sql("SELECT tries FROM outbox ORDER BY id").scalars().all()
    assert tries == [1, 0, 0]


def test_a_folder_that_cannot_be_made_stops_nobody_and_is_tried_again(store, tmp_path, caplog) -> None:
    journal, clock = Journal(store, (KIND,)), Turned()
    recall.play(journal, KeywordRecall(), 7, START, TEXTS)
    (tmp_path / "taken").write_text("a file")
    loaded = LoadedSettings(Settings(wandb={"project": "beam", "folder": "taken/runs"}), tmp_path, {})
    sink = open_experiments(loaded, store, "5Validator", BETTER)
    assert "wandb.folder cannot be written" in caplog.text
    deliver(store, sink, clock)
    with store.read() as connection:
        row = connection.exec_driver_sql("SELECT state, tries, fault FROM outbox").one()
    assert row[:2] == ("waiting", 1)
    assert "NotADirectoryError" in row[2]


def test_without_wandb_or_project_nothing_is_left_to_do(monkeypatch, caplog) -> None:
    assert list_sinks(LoadedSettings(Settings(), Path(), {})) == ()
    loaded = LoadedSettings(Settings(wandb={"project": "beam"}), Path(), {})
    assert list_sinks(loaded) == (KIND,)
    monkeypatch.setattr(logger, "find_spec", lambda _: None)
    assert list_sinks(loaded) == ()
    assert "pip install 'weighbeam[wandb]'" in caplog.text


def test_a_record_across_blocks_is_read_whole_and_half_a_record_not_at_all(tmp_path: Path) -> None:
    data, records = b":W&B\xe1\xbe\x00", [b"a" * 100, b"b" * 70_000, b"c"]
    for record in records:
        first = True
        while record or first:
            room = BLOCK - len(data) % BLOCK
            if room < PIECE.size:
                data += b"\0" * room
                continue
            piece, record = record[: room - PIECE.size], record[room - PIECE.size :]
            kind = (1 if first else 4) if not record else (2 if first else 3)
            data += PIECE.pack(0, len(piece), kind) + piece
            first = False
    path = tmp_path / "run.wandb"
    path.write_bytes(data)
    assert list(load_records(path)) == records
    assert list(load_records(path, len(data)))[-1:] == records[-1:]
    path.write_bytes(data[:-40_000])
    assert list(load_records(path)) == records[:1]
    path.write_bytes(data[:FILE_HEADER])
    assert list(load_records(path)) == []
