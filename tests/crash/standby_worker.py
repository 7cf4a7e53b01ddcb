"""A validator that waits for its turn, then sets weights over and over until it is shot.

The chain makes blocks by itself and its clock follows them: a block is 12 minutes, so weights are due every few blocks.
"""

import asyncio
import logging
import time
from multiprocessing.connection import Connection
from pathlib import Path

from crash.worker import ALICE, AVERAGING, CHUNKING, PARAMS, make_facts, read_observed
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.alerts.alerts import LOG, Alerts
from weighbeam.engine.journal.head import HeadSigner, sign_heads
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.runtime import ValidatorRuntime, keep_lock, keep_weighing
from weighbeam.engine.running.standby import Standby
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.records import Task
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

SILENT_BLOCKS = 6
PAUSE_SECONDS = 0.02


def open_context(folder: Path, url: str) -> tuple[WeighInContext, HotkeyLock]:
    """The store and the chain, as any validator of the pair opens them."""
    store = Store(url)
    sign_heads(store, HeadSigner(ALICE, time.time, file=folder / "journal.db.head"))
    lock = HotkeyLock(store, ALICE.address)
    chain = LocalChain(ChainFile(folder / "chain.sqlite"), ALICE)
    ledger = Ledger(store, "chunking", lock.require)
    return WeighInContext(CHUNKING, PARAMS, Journal(store), ledger, chain, ALICE.address, averaging=AVERAGING), lock


def live(folder: Path, url: str, name: str, standby: bool, said: Connection) -> None:
    LOG.addHandler(logging.FileHandler(folder / f"{name}.log"))
    LOG.propagate = False
    asyncio.run(_live(folder, url, name, standby, said))


async def _live(folder: Path, url: str, name: str, standby: bool, said: Connection) -> None:
    context, lock = open_context(folder, url)
    store, clock = context.journal.store, ChainClock(ChainFile(folder / "chain.sqlite"))
    known = KnownValidators(None, store, clock.now)
    alerts = Alerts(store, clock.now)
    runtime = ValidatorRuntime(store, clock, alerts, Health(1800.0), lock, known, AVERAGING, ALICE.address)
    asked = RoundContext(CHUNKING, PARAMS, context.journal, Asker(ALICE, AskSettings()), LocalSenses())
    runner = MechanismRunner(asked, context, _ask_nothing, clock)
    runtime.health.add("chunking")
    said.send(("ready", name))
    if standby:
        await Standby(lock, [context], SILENT_BLOCKS, PAUSE_SECONDS).wait_for_turn()
    else:
        lock.take()
    said.send(("active", name, time.monotonic()))
    async with asyncio.TaskGroup() as group:
        group.create_task(keep_lock(lock, alerts))
        group.create_task(keep_weighing(runtime, runner))
        group.create_task(_keep_recording(folder, name, context, clock))


def _ask_nothing(seed: str) -> Task:
    raise AssertionError(seed)


async def _keep_recording(folder: Path, name: str, context: WeighInContext, clock: ChainClock) -> None:
    """The observed round again and again, so that there is something to weigh, and whose it is."""
    asked, observation = read_observed(folder)
    number = 0
    while True:
        number += 1
        round_id = f"{name}-{number}"

        def play(round_id: str = round_id) -> None:
            context.journal.record(make_facts(round_id, clock.now(), observation), asked, observation)
            context.journal.commit(round_id, CHUNKING)

        await asyncio.to_thread(play)
        await asyncio.sleep(PAUSE_SECONDS)
