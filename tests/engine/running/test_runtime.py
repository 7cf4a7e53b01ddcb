"""A validator left alone: two mechanisms side by side, each with its own rounds, weights and faults."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall

from engine.recall import PARAMS, PaidRecall, find
from network.loopback import open_nonces, serve_app
from postgres import on_sqlite
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import FaultSwitches, LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import generate_tasks
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.health import Health, Pulse
from weighbeam.engine.running.runtime import ValidatorRuntime, keep_running
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.records import Observation
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.store.database import Store

ALICE = Hotkey.from_uri("//Alice")
NAMES = ("full", "half", "empty")
SECONDS = 240.0


async def answer(name: str, task: dict) -> dict:
    words = task["keywords"] if name == "full" else task["keywords"][:1]
    return {"text": "" if name == "empty" else " ".join(words)}


@dataclass
class World:
    runtime: ValidatorRuntime
    runners: tuple[MechanismRunner, ...]
    file: ChainFile

    @property
    def pulses(self) -> dict[str, Pulse]:
        return self.runtime.health.pulses

    def run(self, reached: Callable[[], bool]) -> None:
        """Let it run until something is reached; a fault that ends it comes out."""

        async def bounded() -> None:
            running = asyncio.create_task(keep_running(self.runtime, self.runners))
            try:
                async with asyncio.timeout(SECONDS):
                    await asyncio.sleep(0)
                    while not reached():
                        await asyncio.wait([running], timeout=0.02)
                        if running.done():
                            await running
            finally:
                running.cancel()
                await asyncio.wait([running])

        asyncio.run(bounded())

    def row(self, number: int) -> dict[int, int]:
        return dict(asyncio.run(self.runners[number].weigh_in_context.chain.stored(ALICE.address)).row)


@pytest.fixture
def world(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch):
    """Three miners that serve both mechanisms; the chain runs 600 times as fast as the wall."""
    monkeypatch.setattr("weighbeam.engine.running.runtime.POLL_SECONDS", 0.1)
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1, mechanisms=2)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, speed=600)
    register(file, ALICE.address, stake=5000 * 10**9)
    store = Store(store_url)
    clock = ChainClock(ChainFile(file.path))
    with ExitStack() as stack:
        for name in NAMES:
            hotkey = Hotkey.from_uri(f"//{name}")
            policy = SenderPolicy(PolicySettings(per_minute=60000, burst=1000, per_sender=8))
            policy.update({ALICE.address: SenderStanding(True, 10**12)})

            async def handle(task: dict, seconds: float, name: str = name) -> dict:
                return await answer(name, task)

            handlers = {"keyword-recall": handle, "paid-recall": handle}
            app = make_miner_app(hotkey, handlers, open_nonces(tmp_path / f"{name}.sqlite"), policy)
            register(file, hotkey.address)
            announce(file, hotkey.address, stack.enter_context(serve_app(app)))
        alerts, health = Alerts(store, clock.now), Health(60.0)
        known = KnownValidators(None, store, clock.now)
        runtime = ValidatorRuntime(
            store, clock, alerts, health, HotkeyLock(store, ALICE.address), known, Averaging(), ALICE.address
        )
        runners = tuple(_post(runtime, file, kind(), mechid) for mechid, kind in enumerate((KeywordRecall, PaidRecall)))
        time.sleep(0.5)
        yield World(runtime, runners, file)


def _post(runtime: ValidatorRuntime, file: ChainFile, mechanism, mechid: int) -> MechanismRunner:
    journal, chain = Journal(runtime.store), LocalChain(ChainFile(file.path), ALICE, mechid)
    weigh_in_context = WeighInContext(
        mechanism, PARAMS, journal, Ledger(runtime.store, mechanism.name), chain, ALICE.address
    )
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    round_context = RoundContext(mechanism, PARAMS, journal, asker, None)
    return MechanismRunner(round_context, weigh_in_context, generate_tasks(mechanism, PARAMS), runtime.clock)


def has_played(world: World, rounds: int) -> bool:
    return all(pulse.rounds >= rounds for pulse in world.pulses.values())


def has_weighed(world: World) -> bool:
    return all(pulse.last_weigh_in == "confirmed" for pulse in world.pulses.values())


def codes(world: World) -> set[str]:
    return {alert.code for alert in list_alerts(world.runtime.store, limit=100).items}


def sound(world: World) -> bool:
    return [r.fault for r in replay(world.runtime.store, find) if r.fault] == []


def test_two_mechanisms_side_by_side_each_with_weights_of_its_own(world: World) -> None:
    world.run(lambda: has_played(world, 3) and has_weighed(world))
    uid = {n: i + 1 for i, n in enumerate(NAMES)}
    for number in (0, 1):
        row = world.row(number)
        assert row[uid["full"]] == 65535
        assert 0 < row[uid["half"]] < 65535
        assert uid["empty"] not in row
    assert sound(world)


@on_sqlite
def test_one_that_cannot_observe_does_not_hold_up_the_other(world: World, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(KeywordRecall):
        def observe(self, params, asked, senses) -> Observation:
            raise RuntimeError("a defect")

    first, second = world.runners
    world.runners = (replace(first, round_context=replace(first.round_context, mechanism=Broken())), second)
    with caplog.at_level(logging.INFO, "weighbeam"):
        world.run(lambda: world.pulses["keyword-recall"].discarded >= 2 and world.pulses["paid-recall"].rounds >= 2)
    assert world.pulses["keyword-recall"].rounds == 0
    assert world.pulses["keyword-recall"].last_fault == "RuntimeError"
    assert "round_discarded" in codes(world)
    assert "remedy" in caplog.text


@on_sqlite
def test_observing_too_long_discards_the_round_as_our_own_fault(world: World) -> None:
    class Slow(KeywordRecall):
        def observe(self, params, asked, senses) -> Observation:
            time.sleep(0.4)
            return super().observe(params, asked, senses)

    first, second = world.runners
    slow = replace(first.round_context, mechanism=Slow(), evaluation_seconds=0.1)
    world.runners = (replace(first, round_context=slow), second)
    world.run(lambda: world.pulses["keyword-recall"].discarded >= 3)
    assert world.pulses["keyword-recall"].last_fault == "evaluation_timeout"
    assert world.pulses["keyword-recall"].rounds == 0
    assert world.runners[0].round_context.journal.standings("keyword-recall") == ()


@on_sqlite
def test_a_chain_that_is_down_is_told_and_used_again_when_it_is_back(world: World) -> None:
    for runner in world.runners:
        runner.weigh_in_context.chain.faults = FaultSwitches(unreachable=True)
    world.run(lambda: all(pulse.mode == "UNREADABLE" and pulse.discarded >= 2 for pulse in world.pulses.values()))
    assert "chain_unreadable" in codes(world)
    assert all(pulse.rounds == 0 for pulse in world.pulses.values())
    for runner in world.runners:
        runner.weigh_in_context.chain.faults = FaultSwitches()
    world.run(lambda: has_played(world, 1) and has_weighed(world))
    assert world.row(0)
    assert any(
        alert.level == "info" and "left UNREADABLE" in alert.text
        for alert in list_alerts(world.runtime.store, limit=200).items
    )
    assert sound(world)


@on_sqlite
def test_standing_still_ends_the_process(world: World) -> None:
    for runner in world.runners:
        runner.weigh_in_context.chain.faults = FaultSwitches(unreachable=True)
    world.runtime.health.patience = 1.0
    with pytest.raises(WeighbeamError, match=r"watchdog: no progress for 1 s"):
        world.run(lambda: False)
    assert world.runtime.health.report()["status"] == "stalled"
    assert "watchdog" in codes(world)


def test_a_lock_that_another_took_ends_it_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.engine.running.runtime.BEAT_SECONDS", 0.2)

    async def steal() -> None:
        while not has_played(world, 1):
            await asyncio.sleep(0.02)
        with world.runtime.store.write() as connection:
            connection.exec_driver_sql("UPDATE locks SET holder = 'another:1:x'")

    async def both() -> None:
        await asyncio.gather(keep_running(world.runtime, world.runners), steal())

    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        asyncio.run(both())
    with world.runtime.store.read() as connection:
        assert connection.exec_driver_sql("SELECT holder FROM locks").scalar_one() == "another:1:x"


@on_sqlite
def test_nobody_to_ask_is_no_standstill(world: World) -> None:
    world.runners = world.runners[:1]
    for name in NAMES:
        announce(world.file, Hotkey.from_uri(f"//{name}").address, None)
    world.runtime.health.patience = 2.0
    began = time.monotonic()
    world.run(lambda: time.monotonic() - began > 1.5 * world.runtime.health.patience)
    assert world.pulses["keyword-recall"].last_fault == "too_few_miners"
