"""The last line of defence: a loop that stands still, work that stands still, and a second validator."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.small_subnet import hear_log, open_store
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.watchdog import EXIT_FROZEN, watch_progress
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.store.database import Store

FROZEN = """
import asyncio, logging, sys, time
from weighbeam.engine.running.watchdog import Supervisor

async def main():
    task = asyncio.create_task(Supervisor(1.5).beat())
    await asyncio.sleep(2.0)
    print("alive", flush=True)
    if sys.argv[1] == "freeze":
        time.sleep(60)
    task.cancel()

logging.basicConfig()
asyncio.run(main())
"""


def test_a_process_whose_event_loop_stands_still_is_ended_and_says_why() -> None:
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", FROZEN, "freeze"], capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_FROZEN == 70
    assert done.stdout == "alive\n"
    assert "the event loop stood still" in done.stderr
    assert "remedy: " in done.stderr
    assert time.monotonic() - began < 30


def test_one_that_gets_on_is_left_alone() -> None:
    done = subprocess.run([sys.executable, "-c", FROZEN, "go on"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_work_that_stands_still_ends_in_watchdog_and_an_alert(tmp_path: Path) -> None:
    store, now = open_store(tmp_path), [0.0]
    health = Health(0.04, monotonic=lambda: now[0])
    health.add("quick")
    health.add("stuck")

    async def get_on() -> None:
        watch = asyncio.create_task(watch_progress(health, Alerts(store, lambda: 5.0)))
        for _ in range(5):
            now[0] += 0.03
            for name in ("quick", "stuck"):
                health.weigh(name)
            health.advance("quick")
            if now[0] < 0.1:
                health.advance("stuck")
            await asyncio.sleep(0.05)
        await watch

    with hear_log() as lines, pytest.raises(WeighbeamError, match=r"watchdog: .*stuck") as caught:
        asyncio.run(get_on())
    assert "quick" not in caught.value.message
    assert "service manager" in caught.value.remedy
    assert [alert.code for alert in list_alerts(store, limit=9).items] == ["watchdog"]
    assert "remedy: " in lines[0]


def test_health_reports_who_stands_still_and_why() -> None:
    now = [100.0]
    health = Health(10.0, monotonic=lambda: now[0])
    pulse = health.add("chunking")
    pulse.rounds, pulse.last_fault, pulse.mode = 3, "store_fault", "NORMAL"
    assert health.add("chunking") is pulse
    now[0] += 10
    assert (health.report()["status"], health.report()["stalled"]) == ("ok", [])
    now[0] += 0.5
    report = health.report()
    assert (report["status"], report["stalled"]) == ("stalled", ["chunking"])
    row = report["mechanisms"]["chunking"]
    assert (row["seconds_since_progress"], row["rounds"], row["last_fault"]) == (10.5, 3, "store_fault")
    health.advance("chunking")
    assert health.stalled() == ["chunking"], "its weigh-ins stand still"
    health.weigh("chunking")
    assert health.report()["status"] == "ok"


HOLDER = """
import sys, time
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.store.database import Store

lock = HotkeyLock(Store(sys.argv[1]), "5Hot")
lock.take()
print(lock.holder, flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process of this host that holds the lock; its store beside it."""
    store = open_store(tmp_path)
    command = [sys.executable, "-c", HOLDER, f"sqlite:///{tmp_path / 'journal.db'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        yield store, process, name
        process.kill()


def test_while_its_process_lives_the_lock_is_refused(holder: tuple[Store, subprocess.Popen[str], str]) -> None:
    store, _, name = holder
    with pytest.raises(WeighbeamError, match="hotkey_locked") as caught:
        HotkeyLock(store, "5Hot").take()
    process = name.split(":")[-2]
    assert f"process {process} on " in caught.value.message
    assert "stop it" in caught.value.remedy


def test_from_a_dead_process_of_this_host_it_is_taken_at_once(
    holder: tuple[Store, subprocess.Popen[str], str],
) -> None:
    store, process, _ = holder
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    lock = HotkeyLock(store, "5Hot")
    lock.take()
    lock.beat()


def test_a_holder_of_another_host_is_given_two_minutes_and_notices_its_loss(tmp_path: Path) -> None:
    store, now = open_store(tmp_path), [1000.0]
    far, near = (HotkeyLock(store, "5Hot", now=lambda: now[0]) for _ in range(2))
    far.holder = "elsewhere:1:abcd"
    far.take()
    now[0] += 119
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        near.take()
    now[0] += 1
    near.take()
    with pytest.raises(WeighbeamError, match=r"hotkey_locked: another validator took"):
        far.beat()
    near.beat()


def test_a_clock_set_back_does_not_keep_a_dead_holder_of_another_host_alive(tmp_path: Path) -> None:
    store, now = open_store(tmp_path), [100_000.0]
    far, near = (HotkeyLock(store, "5Hot", now=lambda: now[0]) for _ in range(2))
    far.holder = "elsewhere:1:abcd"
    far.take()
    now[0] -= 5 * 3600
    near.take()
