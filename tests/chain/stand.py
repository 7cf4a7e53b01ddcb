"""One subnet behind either chain: the local one, or the SDK's adapter on a loopback node over the same file."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from engine.small_subnet import ALICE, START, TAO, Observed, make_weigh_in_context, open_store, play
from weighbeam.chain.contract import Chain
from weighbeam.chain.local.administer import add_proxy, announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.chain.proxies import Delegation, Proxying
from weighbeam.engine.alerts.alerts import REMEDIES
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses

T = TypeVar("T")
PROXY = Hotkey.from_uri("//proxy")


def address(name: str) -> str:
    return Hotkey.from_uri(f"//{name}").address


def observe_addresses(senses: LocalSenses) -> Observed:
    """The example round with hotkeys that a real chain takes."""
    asked = Chunking().examples()[0]
    asked = replace(asked, answers=tuple(replace(one, hotkey=address(one.hotkey)) for one in asked.answers))
    return asked, Chunking().observe(ChunkingParams(timeout=3.0), asked, senses)


def make_file(folder: Path, hotkeys: list[str], **parameters: Any) -> ChainFile:
    """Alice with a permit, and the hotkeys registered and serving."""
    settled = SubnetParameters(**{"tempo": 20, "rate_limit": 5, "max_validators": 1, **parameters})
    file = ChainFile.create(folder / "chain.sqlite", settled, manual=True)
    register(file, ALICE.address, stake=5000 * TAO)
    for hotkey in hotkeys:
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    advance(file, 20)
    return file


@dataclass
class Stand:
    """A chain file, the chain that shows it, and a scale to weigh with; on one event loop throughout."""

    file: ChainFile
    chain: Chain
    weigh_in_context: WeighInContext
    runner: asyncio.Runner
    node: Any = None
    server: Any = None
    limits: Any = None
    key: Hotkey = ALICE
    proxying: Proxying | None = None
    told: list[tuple[str, str, str]] = field(default_factory=list)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def weigh(self, now: float = START + 60) -> WeighInResult:
        return self.run(weigh_in(self.weigh_in_context, now))

    def stored(self) -> tuple[tuple[int, int], ...]:
        return self.run(self.chain.stored(ALICE.address)).row

    def count_taken(self) -> int:
        """How many submissions the chain has taken, open or sealed."""
        query = "SELECT COUNT(*) FROM events WHERE name IN ('WeightsSet', 'TimelockedWeightsCommitted')"
        return int(self.file.db.execute(query).fetchone()[0])


def tell(done: WeighInResult, before: str | None = None) -> list[tuple[str, str]]:
    """Code and level of what a weigh-in raises; each has a remedy."""
    told = list_raised(done, before, stalled=False)
    assert all(REMEDIES[one.code] for one in told)
    return [(one.code, one.level) for one in told]


@contextmanager
def open_stand(kind: str, folder: Path, observed: Observed, **parameters: Any) -> Iterator[Stand]:
    with ExitStack() as stack:
        file = make_file(folder, [one.hotkey for one in observed[0].answers], **parameters)
        runner = stack.enter_context(asyncio.Runner())
        weigh_in_context = make_weigh_in_context(open_store(folder), file)
        play(weigh_in_context.journal, observed, "r0")
        stand = Stand(file, weigh_in_context.chain, weigh_in_context, runner)
        if kind == "proxy":
            stand.key, stand.proxying = PROXY, Proxying(ALICE.address)
            add_proxy(file, ALICE.address, Delegation(PROXY.address, "NonFungible"))
        if kind != "local":
            _put_sdk_before(stand, folder, stack)
        else:
            assert isinstance(stand.chain, LocalChain)
        yield stand


def _put_sdk_before(stand: Stand, folder: Path, stack: ExitStack) -> None:
    from loopnode.node import LoopNode
    from loopnode.server import serve_node
    from weighbeam.chain.bittensor.connection import CallTimeouts
    from weighbeam.chain.bittensor.port import BittensorChain

    stand.limits = CallTimeouts(connect=20, read=20, submit=20, stall=60, close=1)
    stand.node = LoopNode(stand.file)
    stand.server = stack.enter_context(serve_node(stand.node))
    chain = make_adapter(stand, folder, key=stand.key, proxying=stand.proxying)
    assert isinstance(chain, BittensorChain)
    stand.chain, stand.weigh_in_context = chain, replace(stand.weigh_in_context, chain=chain)
    stack.callback(lambda: stand.run(chain.close()))


def make_adapter(
    stand: Stand,
    folder: Path,
    endpoint: str | None = None,
    mechid: int = 0,
    fallbacks: tuple[str, ...] = (),
    key: Hotkey = ALICE,
    proxying: Proxying | None = None,
) -> Any:
    """Another adapter on the same node, under the same limits."""
    from weighbeam.chain.bittensor.port import BittensorChain

    note = stand.told.append
    return BittensorChain(
        endpoint or stand.server.url,
        stand.file.parameters.netuid,
        key,
        folder / "sdk-cache",
        mechid,
        fallbacks,
        limits=stand.limits,
        tell=lambda *said: note(said),
        proxying=proxying,
    )
