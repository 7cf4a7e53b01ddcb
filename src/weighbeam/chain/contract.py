"""The port to a chain: what a validator may ask of it, and the one fault it raises (docs/spec/chain.md § 1)."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from weighbeam.chain.proxies import Delegation
from weighbeam.core.errors import WeighbeamError

Outcome = Literal["not_sent", "rejected", "unknown"]
Path = Literal["plain", "commit"]


class ChainFault(WeighbeamError):
    """A chain call that did not end well. `outcome` says whether anything can have happened on chain."""

    def __init__(
        self, code: str, message: str, remedy: str, outcome: Outcome = "not_sent", retry_block: int | None = None
    ) -> None:
        super().__init__(code, message, remedy)
        self.outcome = outcome
        self.retry_block = retry_block


@dataclass(frozen=True, slots=True)
class ChainHead:
    block: int
    hash: str
    finalized: int
    spec_version: int
    block_seconds: float


@dataclass(frozen=True, slots=True)
class Neuron:
    """Shares are u16, stake is rao, `endpoint` is `host:port` or None; `name` is what its owner wrote, hostile text."""

    uid: int
    hotkey: str
    coldkey: str
    stake: int
    permit: bool
    active: bool
    last_update: int
    registered_at: int
    incentive: int
    dividends: int
    consensus: int
    validator_trust: int
    endpoint: str | None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Metagraph:
    """One subnet at one block, never mixed."""

    block: int
    netuid: int
    owner_hotkey: str | None
    owner_coldkey: str | None
    neurons: tuple[Neuron, ...]

    def find(self, hotkey: str) -> Neuron | None:
        return next((neuron for neuron in self.neurons if neuron.hotkey == hotkey), None)


@dataclass(frozen=True, slots=True)
class ChainRules:
    """Hyperparameters and epoch status at one block."""

    block: int
    tempo: int
    last_epoch_block: int
    next_epoch_block: int | None
    epoch_index: int
    rate_limit: int
    min_allowed_weights: int
    max_weight_limit: int
    version_key: int
    commit_reveal: bool
    reveal_period: int
    activity_cutoff: int
    immunity_period: int
    stake_threshold: int
    max_validators: int
    kappa: int
    consensus: Literal["yuma"] | None


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    path: Path
    block: int
    block_hash: str
    extrinsic: str
    reveal_round: int | None = None


@dataclass(frozen=True, slots=True)
class WeightCommit:
    """A sealed submission: its row stays hidden."""

    epoch: int
    block: int
    reveal_round: int | None
    hash: str


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """Weights that the chain stores for one hotkey now, read at one block."""

    block: int
    uid: int | None
    registered_at: int | None
    last_update: int | None
    row: tuple[tuple[int, int], ...]
    commits: tuple[WeightCommit, ...]


class Chain(Protocol):
    """One subnet and mechanism id, seen by one hotkey or by its proxy. Every call has a deadline and may raise
    `ChainFault`.

    `period` is for how many blocks a submission may still be included after it was sent; 0 where that is known at once.
    """

    period: int

    async def head(self) -> ChainHead: ...

    async def metagraph(self) -> Metagraph: ...

    async def rules(self) -> ChainRules: ...

    async def blocks_since_update(self, hotkey: str) -> int | None: ...

    async def submit(
        self, uids: Sequence[int], values: Sequence[int], version_key: int, before: int | None = None
    ) -> SubmissionReceipt:
        """Sends once, and only what can no longer be included from block `before` on."""
        ...

    async def stored(self, hotkey: str) -> StoredWeights: ...

    async def delegations(self, account: str) -> tuple[Delegation, ...]:
        """The keys that may sign for an account, in the chain's order."""
        ...

    def blocks(self) -> AsyncGenerator[int, None]:
        """New blocks as they are made, the newest first of all; `ChainFault` once none comes any more."""
        ...

    async def time(self) -> float:
        """UTC seconds of the newest block, by the clock of its author."""
        ...

    async def announce(self, endpoint: str) -> None:
        """Announce where our hotkey serves: an IP address and a port."""
        ...

    async def close(self) -> None:
        """Let go of connections; the next call makes new ones."""
        ...

    def sign(self, message: bytes) -> bytes: ...

    def verify(self, message: bytes, signature: bytes, hotkey: str) -> bool: ...
