"""A subnet for tests: a local chain, real HTTP miners on loopback, and runners with journals of their own."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.wall_clock import WallClock
from network.loopback import open_nonces, serve_app
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import generate_tasks
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.handlers import TRICKS, honest_miner, hostile_miner
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.miners.spoilers import spoil_replies
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

HONEST = ("paragraphs", "sentences", "semchunk")
HOSTILE = ("dropper", "silent", "replayer", "noise", "copycat")
VALIDATOR = Hotkey.from_uri("//Validator")


@dataclass
class TestSubnet:
    """Miners by name behind real servers; `runner` gives a mechanism runner on a fresh chain and journal."""

    folder: Path
    senses: LocalSenses
    endpoints: dict[str, str]
    numbers: Iterator[int]
    validator: Hotkey = VALIDATOR
    make_url: Callable[[], str] | None = None

    @property
    def names(self) -> dict[str, str]:
        return {Hotkey.from_uri(f"//{name}").address: name for name in self.endpoints}

    def runner(self, only: Sequence[str] | None = None, **params: object) -> MechanismRunner:
        place = self.folder / f"runner-{next(self.numbers)}"
        file = ChainFile.create(
            place / "chain.sqlite", SubnetParameters(tempo=20, rate_limit=5, max_validators=1), manual=True
        )
        register(file, VALIDATOR.address, stake=5000 * 10**9)
        for hotkey, name in self.names.items():
            if only is None or name in only:
                register(file, hotkey)
                announce(file, hotkey, self.endpoints[name])
        advance(file, 21)
        store = Store(self.make_url() if self.make_url else f"sqlite:///{place / 'journal.db'}")
        chunking, settings = Chunking(), ChunkingParams(timeout=2.0, **params)
        chain, journal = LocalChain(file, VALIDATOR), Journal(store)
        weigh_in_context = WeighInContext(
            chunking, settings, journal, Ledger(store, "chunking"), chain, VALIDATOR.address
        )
        asker = Asker(VALIDATOR, AskSettings(allow_private=True, per_address=64))
        round_context = RoundContext(chunking, settings, journal, asker, self.senses)
        return MechanismRunner(round_context, weigh_in_context, generate_tasks(chunking, settings), WallClock())


@contextmanager
def open_subnet(folder: Path, senses: LocalSenses) -> Iterator[TestSubnet]:
    with ExitStack() as stack:
        endpoints = {}
        for name in (*HONEST, *HOSTILE):
            handler = hostile_miner(name, senses) if name in TRICKS else honest_miner(name, senses)
            policy = SenderPolicy(PolicySettings(per_minute=6000, burst=100))
            policy.update({VALIDATOR.address: SenderStanding(True, 10**12)})
            nonces = open_nonces(folder / f"{name}.sqlite")
            app = make_miner_app(Hotkey.from_uri(f"//{name}"), {"chunking": handler}, nonces, policy)
            endpoints[name] = stack.enter_context(serve_app(spoil_replies(name, app, "chunking")))
        yield TestSubnet(folder, senses, endpoints, itertools.count())
