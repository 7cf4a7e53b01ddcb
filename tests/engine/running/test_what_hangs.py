"""What hangs, lies or cannot be finished holds up nobody else."""

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.recall import PaidRecall, play
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.recovery import finish_rounds, recover_requests
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.weights.discovery import Discovery
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.network.address import look_up_host
from weighbeam.network.endpoints import Endpoint
from weighbeam.store.database import Store
from weighbeam.store.memory import recall

HANGING = """
import asyncio, sys, time
from concurrent.futures import ThreadPoolExecutor
from weighbeam.core.errors import WeighbeamError
import weighbeam.app.validator.run as run
import weighbeam.app.shutdown as stop

stop.GRACE_SECONDS = 1.0
pool = ThreadPoolExecutor(1)

async def hang(*_):
    asyncio.get_running_loop().run_in_executor(pool, time.sleep, 600)
    await asyncio.sleep(0.2)
    print("hangs", flush=True)
    if sys.argv[1] == "watchdog":
        raise WeighbeamError("watchdog", "no progress")
    await asyncio.sleep(600)

run.keep_running = hang
built = type("Built", (), {"runtime": None, "runners": ()})
loaded = type("Loaded", (), {})
closed = type("C", (), {"callers": (), "pull": None})
loaded.settings = type("S", (), {"validator": type("V", (), {"listen": None}), "challenges": closed})
asyncio.run(run.run_until_stopped(run._run(built, loaded)))
"""


@pytest.mark.parametrize("how", ["watchdog", "signal"])
def test_a_thread_that_hangs_does_not_keep_the_process(how: str) -> None:
    with subprocess.Popen([sys.executable, "-c", HANGING, how], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "hangs\n"
        if how == "signal":
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 70


def test_names_that_hang_hold_up_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> list[object]:
        released.wait(30)
        return []

    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", hang)

    async def both() -> list[str]:
        names = [asyncio.create_task(look_up_host(f"n{i}.example", 80, 3.0)) for i in range(40)]
        await asyncio.sleep(0.05)
        await look_up_host("198.51.100.7", 80, 3.0)
        assert not any(name.done() for name in names), "it waited for none of them"
        outcomes = await asyncio.gather(*names, return_exceptions=True)
        released.set()
        return [getattr(fault, "code", type(fault).__name__) for fault in outcomes]

    outcomes = asyncio.run(both())
    assert set(outcomes) == {"TimeoutError", "resolver_busy"}
    assert outcomes.count("resolver_busy") == 8


def test_a_source_that_hangs_costs_one_wait_and_old_endpoints_stand_in() -> None:
    told = {"a": Endpoint("198.51.100.1:80", "btauth/1", "chain")}
    calls: list[float] = []

    def find(_: object) -> dict[str, Endpoint]:
        calls.append(time.monotonic())
        if len(calls) > 1:
            released.wait(30)
        return told

    released = threading.Event()

    async def look_thrice() -> list[float]:
        discovery, spent = Discovery(find, seconds=2.0), []
        for _ in range(3):
            start = time.monotonic()
            assert await discovery.look(None) == told
            spent.append(time.monotonic() - start)
        released.set()
        return spent

    spent = asyncio.run(look_thrice())
    assert spent[1] >= 2.0
    assert spent[2] < 1.5
    assert len(calls) == 2


def test_rounds_that_begin_at_once_share_a_look() -> None:
    told, calls = {"a": Endpoint("198.51.100.1:80", "btauth/1", "chain")}, []

    def find(_: object) -> dict[str, Endpoint]:
        calls.append(1)
        time.sleep(0.2)
        return told

    async def look_at_once() -> list[object]:
        discovery = Discovery(find)
        return await asyncio.gather(*(discovery.look(None) for _ in range(3)))

    assert asyncio.run(look_at_once()) == [told] * 3
    assert len(calls) == 1


def test_a_round_that_cannot_be_scored_is_discarded_once(tmp_path: Path) -> None:
    class Broken(PaidRecall):
        def score(self, params, observation):
            raise RuntimeError("a defect")

    journal = Journal(Store(f"sqlite:///{tmp_path / 'j.db'}"))
    with pytest.raises(RuntimeError):
        play(journal, Broken(), 1, 1000.0, {"a": "tide"})
    assert finish_rounds(journal, {"paid-recall": Broken()}) == []
    assert journal.unfinished() == []
    play(journal, PaidRecall(), 2, 1001.0, {"a": "tide"})


def test_a_request_that_cannot_be_answered_fails_and_lets_others_through(tmp_path: Path) -> None:
    journal = Journal(Store(f"sqlite:///{tmp_path / 'j.db'}"))
    with journal.store.write() as connection:
        for name in ("r1", "r2"):
            connection.exec_driver_sql(
                "INSERT INTO requests (id, mechanism, at, state, body, round) VALUES "
                f"('{name}', 'paid-recall', 1, 'taken', '{{\"body\": {{}}, \"wanted\": [], \"ranked\": true}}', 'gone')"
            )
    for _ in range(2):
        assert recover_requests(journal, PaidRecall()) == ["r1", "r2"]
        with journal.store.write() as connection:
            connection.exec_driver_sql("UPDATE requests SET state = 'taken', round = 'gone'")
    recover_requests(journal, PaidRecall())
    with journal.store.read() as connection:
        assert set(connection.exec_driver_sql("SELECT state FROM requests").scalars()) == {"failed"}


def test_an_alert_survives_any_text(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'j.db'}")
    Alerts(store, time.time).tell("few_documents", "warning", "bad name \udcff " + "x" * 10_000)
    (alert,) = list_alerts(store, limit=1).items
    assert alert.text.startswith("bad name ?")
    assert len(alert.text) == 4000


def test_a_clock_set_back_does_not_freeze_the_chain(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    parameters = SubnetParameters(tempo=20)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, clock=lambda: now[0])
    now[0] += 60 * 12
    assert file.present_block() == 61
    with file.locked():
        file.write("head", 61)
        now[0] += 30 * 86400
        assert file.present_block() == 62
        file.write("head", 62)
        now[0] -= 30 * 86400
        assert file.present_block() == 62
        now[0] += 120
        assert file.present_block() == 72


def test_an_unknown_outcome_does_not_count_as_submitted(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'j.db'}")
    with store.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO submissions (mechanism, state, row, plan, at) VALUES ('m', 'unknown', '[]', '{}', 5000)"
        )
    assert Ledger(store, "m").last_submitted_at() is None


def test_a_driver_that_is_missing_is_named() -> None:
    with pytest.raises(WeighbeamError, match="bad_store_url"):
        Store("postgresql+asyncmissing://localhost/x")


def test_reading_on_a_new_connection_while_writing_waits_for_nobody(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'j.db'}")
    start = time.monotonic()
    with store.write():
        assert recall(store, "nothing") is None
    assert time.monotonic() - start < 5
