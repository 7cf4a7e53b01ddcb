"""The node: a chain file with a second face. Blocks, their state, and a pool of verified extrinsics."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bittensor._transport.codec import RuntimeCodec

from loopnode.dispatch import Event, Opener, Sealed, apply_extrinsic, encode_events, guard
from loopnode.extrinsic import Extrinsic, PoolRefusal, read_extrinsic, refuse
from loopnode.faults import PRIORITY, Faults
from loopnode.golden import load_golden
from loopnode.metadata import load_codec
from loopnode.runtime_calls import CALLS, call_runtime
from loopnode.state import INDEX, State, snapshot
from weighbeam.chain.local.blocks import advance, at_present
from weighbeam.chain.local.file import ChainFile


@dataclass
class Block:
    """One block as it is served; `answers` are the runtime calls that a client may make at it."""

    number: int
    state: State
    answers: dict[str, bytes]
    extrinsics: list[bytes] = field(default_factory=list)


def _refuse_to_open(ciphertext: bytes, reveal_round: int) -> Any:
    return (), (), 0


class LoopNode:
    """`instant` makes a block as soon as something is in the pool; else `step()` does, by hand or on a timer.

    `lag` is how many blocks finality stays behind the head.
    """

    def __init__(self, file: ChainFile, instant: bool = True, lag: int = 0) -> None:
        self.file = ChainFile(file.path)
        self.instant, self.lag = instant, lag
        self.faults = Faults()
        self.opener: Opener = _refuse_to_open
        self.lock = threading.RLock()
        self.included: list[Extrinsic] = []
        self.succeeded: set[str] = set()
        self.on_block: Callable[[], None] = lambda: None
        self._pool: list[Extrinsic] = []
        self._waiting: list[tuple[int, Extrinsic]] = []
        self._nonces: dict[str, int] = {}
        self._sealed: Sealed = {}
        self._blocks: dict[int, Block] = {}
        self._version = -1
        self.genesis = load_golden()["network"]["genesis_hash"]
        self.refresh()

    @property
    def spec_version(self) -> int:
        return self.faults.spec_version or int(load_golden()["network"]["spec_version"])

    @property
    def codec(self) -> RuntimeCodec:
        return load_codec(self.spec_version, not self.faults.without_consensus)

    @property
    def head(self) -> int:
        return max(self._blocks) - self.faults.head_back

    @property
    def finalized(self) -> int:
        return max(0, min(self.head, max(self._blocks) - self.lag))

    def hash_block(self, number: int) -> str | None:
        if number == 0:
            return str(self.genesis)
        known = 0 <= number <= self.head
        return "0x" + hashlib.sha256(f"{self.genesis}:{number}".encode()).hexdigest() if known else None

    def find_number(self, block_hash: str | None) -> int | None:
        """The number of a block by its hash; the head's without one."""
        if block_hash is None:
            return self.head
        return next((n for n in range(self.head, -1, -1) if self.hash_block(n) == block_hash), None)

    def find_block(self, number: int) -> Block:
        """The block, or for one before the node began the oldest it knows."""
        return self._blocks.get(number) or self._blocks[min(self._blocks)]

    def refresh(self) -> None:
        """Take over what others did to the chain file since."""
        with self.lock:
            version = self.file.db.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version = version
                self._keep([], [])

    def step(self, blocks: int = 1) -> None:
        """Make blocks; the pool goes into the first, after its epoch."""
        with self.lock:
            self.refresh()
            for _ in range(blocks):
                self._make_block()
        self.on_block()

    def _make_block(self) -> None:
        number = advance(self.file, 1)
        taken = [one for one in self._pool if one.dies > number]
        for dead in (one for one in self._pool if one.dies <= number):
            dead.tell("dropped")
        self._pool = []
        with at_present(self.file):
            done = [self._apply(one, number) for one in taken]
        self._keep([one.data for one in taken], done)
        for one in taken:
            one.tell({"inBlock": self.hash_block(number)})
            self._waiting.append((number, one))
        for number, one in [pair for pair in self._waiting if pair[0] <= self.finalized]:
            self._waiting.remove((number, one))
            one.tell({"finalized": self.hash_block(number)})

    def _apply(self, one: Extrinsic, number: int) -> tuple[str | None, list[Event]]:
        self._nonces[one.address] = one.nonce + 1
        self.included.append(one)
        if self.faults.dispatch_error is not None:
            return self.faults.dispatch_error, []
        given = self.codec, self.file, one, number, self.opener, self._sealed
        refusal, events, done = apply_extrinsic(*given)
        if done is not None:
            self.succeeded.add(one.hash)
        return refusal, events

    def _keep(self, extrinsics: list[bytes], done: list[tuple[str | None, list[Event]]]) -> None:
        codec, file = load_codec(self.spec_version), self.file
        with at_present(file) as number:
            state = snapshot(codec, file, number, self._nonces, self._sealed)
            answers = {name: call_runtime(codec, file, number, name, self._netuid()) or b"" for name in CALLS}
            key = codec.storage_key(codec.storage_entry("System", "Events"), [])
            state[key] = encode_events(codec, self._list_reveals(number), done)
        for between in range(max(self._blocks, default=number) + 1, number):
            self._blocks[between] = self._blocks[between - 1]
        self._blocks[number] = Block(number, state, answers, extrinsics)

    def _netuid(self) -> bytes:
        return int(self.file.parameters.netuid).to_bytes(2, "little")

    def _list_reveals(self, number: int) -> list[Event]:
        query = (
            "SELECT json_extract(e.detail, '$.mechid'), n.hotkey FROM events e "
            "JOIN neurons n ON n.uid = json_extract(e.detail, '$.uid') "
            "WHERE e.block = ? AND e.name = 'TimelockedWeightsRevealed'"
        )
        rows = self.file.db.execute(query, (number,)).fetchall()
        netuid = self.file.parameters.netuid
        return [{"TimelockedWeightsRevealed": (mechid * INDEX + netuid, hotkey)} for mechid, hotkey in rows]

    def next_nonce(self, address: str) -> int:
        return self._nonces.get(address, 0) + sum(one.address == address for one in self._pool)

    def submit(self, data: bytes, watcher: Callable[[Any], None] | None = None) -> Extrinsic:
        """Verify, then into the pool; `PoolRefusal` says why not."""
        with self.lock:
            if self.faults.pool_error is not None:
                raise PoolRefusal(self.faults.pool_error)
            one = read_extrinsic(self.codec, data, self.head, self.genesis, self.hash_block)
            self._check_nonce(one)
            with at_present(self.file) as number:
                guard(self.file, one, number)
            if watcher is not None:
                one.watchers.append(watcher)
            if self.faults.watch_status is not None:
                one.tell(self.faults.watch_status)
                return one
            if self.faults.drop_submission != "lost":
                self._pool.append(one)
        if self.instant:
            self.step()
        return one

    def _check_nonce(self, one: Extrinsic) -> None:
        if any(one.address == other.address and one.nonce == other.nonce for other in self._pool):
            raise PoolRefusal(PRIORITY)
        expected = self.next_nonce(one.address)
        if one.nonce != expected:
            raise refuse("Stale" if one.nonce < expected else "Future")
