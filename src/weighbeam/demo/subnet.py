"""Set the demo's subnet up and run it: the chain's clock is everybody's clock, 24 times as fast as the real one."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weighbeam.chain.contract import Metagraph
from weighbeam.chain.local.administer import register
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import MINERS, VALIDATORS, Part
from weighbeam.demo.miners import READY
from weighbeam.engine.journal import Committed, Journal
from weighbeam.engine.ledger import Ledger
from weighbeam.engine.round import Bench
from weighbeam.engine.validator import Post
from weighbeam.engine.weigh_in.assess import Scale
from weighbeam.engine.weigh_in.run import WeighedIn
from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Task, make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

SPEED = 24.0
CHARACTERS = 5000
ASK_SECONDS = 6.0
PARAMETERS = SubnetParameters(
    tempo=20, rate_limit=5, max_validators=len(VALIDATORS), immunity_period=100, activity_factor=250_000
)


@dataclass(frozen=True, slots=True)
class Subnet:
    """The demo's chain and validators; `names` tells hotkeys apart."""

    folder: Path
    file: ChainFile
    validators: tuple[Post, ...]
    names: dict[str, Part]

    async def metagraph(self) -> Metagraph:
        return await self.validators[0].scale.chain.metagraph()

    def epochs(self) -> int:
        with at_present(self.file):
            return int(self.file.read("epoch_index"))


@contextmanager
def open_subnet(folder: Path) -> Iterator[Subnet]:
    """A fresh chain with everybody registered, the miners serving, the validators ready."""
    folder.mkdir(parents=True, exist_ok=True)
    file = create_chain(folder)
    senses = LocalSenses(workers=1)
    with _miners(folder):
        validators = tuple(_validator(part, folder, file, senses) for part in VALIDATORS)
        names = {part.hotkey.address: part for part in (*VALIDATORS, *MINERS)}
        yield Subnet(folder, file, validators, names)


def create_chain(folder: Path) -> ChainFile:
    """The demo's chain, everybody registered."""
    file = ChainFile.create(folder / "chain.sqlite", PARAMETERS, speed=SPEED)
    for part in (*VALIDATORS, *MINERS):
        register(file, part.hotkey.address, stake=part.stake)
    return file


@contextmanager
def _miners(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "weighbeam.demo.miners", str(folder / "chain.sqlite"), str(folder / "miners")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != READY:
                assert process.stderr is not None
                last = (process.stderr.read().strip().splitlines() or ["no word"])[-1]
                raise WeighbeamError(
                    "miners_failed", f"the demo's miners did not start: {last}", "run weighbeam doctor"
                )
            yield
        finally:
            process.kill()


def _validator(part: Part, folder: Path, file: ChainFile, senses: LocalSenses) -> Post:
    mechanism = load_mechanism("chunking")
    params = make_params(mechanism, {"timeout": ASK_SECONDS})
    store = Store(f"sqlite:///{folder / part.name}.db")
    journal, chain = Journal(store), LocalChain(ChainFile(file.path), part.hotkey)
    asker = Asker(part.hotkey, AskSettings(allow_private=True))
    bench = Bench(mechanism, params, journal, asker, senses)
    scale = Scale(mechanism, params, journal, Ledger(store, mechanism.name), chain, part.hotkey.address)
    return Post(bench, scale, make_task, ChainClock(ChainFile(file.path)))


def make_task(seed: str) -> Task:
    document = generate_document(seed, CHARACTERS).text
    return Task(f"generated-{seed[:8]}", {"document": document, "chunk_size": 1600})


async def run_subnet(subnet: Subnet, rounds: int) -> AsyncIterator[list[Committed | WeighedIn]]:
    """Rounds of all validators side by side, then a weigh-in of each, then epochs until the chain has counted them."""
    for _ in range(rounds):
        yield list(await asyncio.gather(*(validator.play_round() for validator in subnet.validators)))
    while subnet.epochs() < 1:
        await asyncio.sleep(0.5)
    yield list(await asyncio.gather(*(validator.weigh_in() for validator in subnet.validators)))
    counted = subnet.epochs()
    while subnet.epochs() <= counted:
        await asyncio.sleep(0.5)
