"""A validator on a local chain for tests of faults: real store, real chain, real miners where rounds are played."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from network.loopback import open_nonces, serve_app
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.alerts.alerts import LOG, Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.runtime import ValidatorRuntime
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Asked, Observation, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.handlers import honest_miner
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CHUNKING, PARAMS, ALICE = Chunking(), ChunkingParams(timeout=20.0), Hotkey.from_uri("//Alice")
START = 1_800_000_000.0
HOUR = 3600.0
TAO = 10**9
Observed = tuple[Asked, Observation]


class Turned:
    """A clock that a test sets; sleeping moves it."""

    def __init__(self, at: float = START) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0.01)


class Fast:
    """A clock that runs so many times as fast as the wall's."""

    def __init__(self, speed: float = 2000.0) -> None:
        self._speed = speed
        self._began = time.monotonic()

    def now(self) -> float:
        return START + (time.monotonic() - self._began) * self._speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)


@contextmanager
def serve_miners(folder: Path, senses: LocalSenses) -> Iterator[dict[str, str]]:
    """hotkey → endpoint of two honest miners who know Alice."""
    with ExitStack() as stack:
        found = {}
        for name in ("paragraphs", "sentences"):
            hotkey = Hotkey.from_uri(f"//{name}")
            policy = SenderPolicy(PolicySettings(per_minute=60000, burst=1000))
            policy.update({ALICE.address: SenderStanding(True, 10**12)})
            handlers = {"chunking": honest_miner(name, senses)}
            app = make_miner_app(hotkey, handlers, open_nonces(folder / f"{name}.sqlite"), policy)
            found[hotkey.address] = stack.enter_context(serve_app(app))
        yield found


def open_store(folder: Path, busy_seconds: float = 10.0) -> Store:
    return Store(f"sqlite:///{folder / 'journal.db'}?timeout={busy_seconds}")


def make_chain(folder: Path, endpoints: Mapping[str, str], **parameters: Any) -> ChainFile:
    """Alice with a permit, and everybody of `endpoints` registered and serving."""
    settled = SubnetParameters(**{"tempo": 20, "rate_limit": 5, "max_validators": 1, **parameters})
    file = ChainFile.create(folder / "chain.sqlite", settled, manual=True)
    register(file, ALICE.address, stake=5000 * TAO)
    for hotkey, endpoint in endpoints.items():
        register(file, hotkey)
        announce(file, hotkey, endpoint)
    advance(file, 20)
    return file


def make_weigh_in_context(store: Store, file: ChainFile, averaging: Averaging | None = None) -> WeighInContext:
    chain = LocalChain(file, ALICE)
    journal, ledger = Journal(store), Ledger(store, "chunking")
    return WeighInContext(CHUNKING, PARAMS, journal, ledger, chain, ALICE.address, averaging=averaging or Averaging())


def make_runner(store: Store, file: ChainFile, senses: LocalSenses, clock: EngineClock) -> MechanismRunner:
    weigh_in_context = make_weigh_in_context(store, file)
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    return MechanismRunner(
        RoundContext(CHUNKING, PARAMS, weigh_in_context.journal, asker, senses), weigh_in_context, make_task, clock
    )


def make_task(seed: str) -> Task:
    return Task(f"task-{seed[:8]}", {"document": generate_document("faults", 1500).text, "chunk_size": 600})


def make_runtime(store: Store, clock: EngineClock) -> ValidatorRuntime:
    alerts, lock = Alerts(store, clock.now), HotkeyLock(store, ALICE.address)
    known = KnownValidators(None, store, clock.now)
    return ValidatorRuntime(store, clock, alerts, Health(1800.0), lock, known, Averaging(), ALICE.address)


def observe_example(senses: LocalSenses) -> Observed:
    asked = CHUNKING.examples()[0]
    return asked, CHUNKING.observe(PARAMS, asked, senses)


def record(journal: Journal, observed: Observed, name: str, at: float = START) -> None:
    asked, observation = observed
    params_hash = hash_params(CHUNKING, PARAMS, observation.facts["senses"])
    facts = RoundFacts(name, "chunking", PARAMS.model_dump(mode="json"), params_hash, name, 1, at)
    journal.record(facts, asked, observation)


def play(journal: Journal, observed: Observed, name: str, at: float = START) -> None:
    record(journal, observed, name, at)
    journal.commit(name, CHUNKING)


def list_rounds(store: Store) -> list[str]:
    """The rounds of the journal, in its order."""
    with store.read() as connection:
        query = "SELECT ref FROM entries WHERE kind = 'round' ORDER BY sequence"
        return list(connection.exec_driver_sql(query).scalars())


def list_faults(store: Store) -> list[str]:
    """What a replay finds wrong."""
    return [f"{found.ref}: {found.fault}" for found in replay(store, load_mechanism) if found.fault]


def count_taken(file: ChainFile) -> int:
    """How many submissions the chain has taken, open or sealed."""
    query = "SELECT COUNT(*) FROM events WHERE name IN ('WeightsSet', 'TimelockedWeightsCommitted')"
    return int(file.db.execute(query).fetchone()[0])


class Hearing(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())


@contextmanager
def hear_log() -> Iterator[list[str]]:
    """Every line the engine logs meanwhile."""
    lines: list[str] = []
    handler = Hearing(lines)
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)


async def run_until(work: Coroutine[Any, Any, None], reached: Callable[[], bool], seconds: float = 90.0) -> None:
    """Let a loop run until something is reached; a loop that ends has failed."""
    task = asyncio.create_task(work)
    try:
        async with asyncio.timeout(seconds):
            while not reached():
                assert not task.done(), f"the loop ended: {task.exception()!r}"
                await asyncio.sleep(0.02)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
