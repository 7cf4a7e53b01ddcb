"""The local chain behind the port, with the faults a test may want."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from weighbeam.chain.contract import (
    ChainFault,
    ChainHead,
    ChainRules,
    Metagraph,
    Neuron,
    Outcome,
    StoredWeights,
    SubmissionReceipt,
    WeightCommit,
)
from weighbeam.chain.local.administer import announce, replace_neuron
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.submit import refuse, submit_weights
from weighbeam.chain.proxies import Delegation, Proxying
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey, is_signed

SECONDS = 10.0
LEAST_PAUSE_SECONDS = 0.2
T = TypeVar("T")


@dataclass(slots=True)
class FaultSwitches:
    """Switches for tests; each stays on until it is turned off.

    `prune_uid` gives a uid to a stranger at the next look at the metagraph but one: between plan and submission.
    """

    delay_seconds: float = 0.0
    unreachable: bool = False
    lose_reply: bool = False
    refuse_with: str | None = None
    freeze_clock: bool = False
    drop_reveals: bool = False
    prune_uid: int | None = None


class LocalChain:
    """One mechanism of the local chain, seen by one hotkey or by its proxy."""

    period = 0

    def __init__(
        self,
        file: ChainFile,
        hotkey: Hotkey,
        mechid: int = 0,
        faults: FaultSwitches | None = None,
        seconds: float = SECONDS,
        proxying: Proxying | None = None,
    ) -> None:
        self._file = file
        self._hotkey = hotkey
        self._mechid = mechid
        self._seconds = seconds
        self._own = hotkey.address if proxying is None else proxying.real
        self._proxy = None if proxying is None else (hotkey.address, proxying.kind)
        self._lock = threading.Lock()
        self.faults = faults or FaultSwitches()

    async def head(self) -> ChainHead:
        def read(block: int) -> ChainHead:
            return ChainHead(block, self._file.hash_block(block), block, 1, self._file.read("block_seconds"))

        return await self._read(read)

    async def metagraph(self) -> Metagraph:
        graph = await self._read(self._select_metagraph)
        if self.faults.prune_uid is not None:
            uid, self.faults.prune_uid = self.faults.prune_uid, None
            replace_neuron(self._file, uid, f"stranger-{graph.block}")
        return graph

    async def rules(self) -> ChainRules:
        return await self._read(self._select_rules)

    async def blocks_since_update(self, hotkey: str) -> int | None:
        def read(block: int) -> int | None:
            stored = self._select_stored(block, hotkey)
            return None if stored.last_update is None else block - stored.last_update

        return await self._read(read)

    async def stored(self, hotkey: str) -> StoredWeights:
        return await self._read(lambda block: self._select_stored(block, hotkey))

    async def delegations(self, account: str) -> tuple[Delegation, ...]:
        return await self._read(lambda _: self._file.read_delegations(account))

    async def submit(
        self, uids: Sequence[int], values: Sequence[int], version_key: int, before: int | None = None
    ) -> SubmissionReceipt:
        def send() -> SubmissionReceipt:
            if self.faults.refuse_with is not None:
                raise refuse(self.faults.refuse_with)
            given = self._own, uids, values, version_key, before, self._proxy
            return submit_weights(self._file, self._mechid, *given)

        submitted = await self._call(send, "unknown")
        if self.faults.lose_reply:
            raise ChainFault("outcome_unknown", "the reply was lost", "none needed: the chain is read back", "unknown")
        return submitted

    async def blocks(self) -> AsyncGenerator[int, None]:
        """The file pushes nothing, so it is looked at once a block."""
        newest = -1
        pause = max(LEAST_PAUSE_SECONDS, self._file.read("block_seconds") / self._file.read("speed"))
        while True:
            block = (await self.head()).block
            if block > newest:
                newest = block
                yield block
            await asyncio.sleep(pause)

    async def time(self) -> float:
        return await self._read(self._file.time_of)

    async def announce(self, endpoint: str) -> None:
        try:
            await asyncio.to_thread(announce, self._file, self._own, endpoint)
        except WeighbeamError as fault:
            raise ChainFault(fault.code, fault.message, fault.remedy, "rejected") from None

    async def close(self) -> None:
        """Nothing is held but the file, which others may use too."""

    def sign(self, message: bytes) -> bytes:
        return self._hotkey.sign(message)

    def verify(self, message: bytes, signature: bytes, hotkey: str) -> bool:
        return is_signed(message, signature, hotkey, "sr25519")

    async def _read(self, read: Callable[[int], T]) -> T:
        def read_now() -> T:
            with at_present(self._file) as block:
                return read(block)

        return await self._call(read_now, "not_sent")

    async def _call(self, action: Callable[[], T], when_late: Outcome) -> T:
        if self.faults.unreachable:
            raise ChainFault("unreachable", "the chain does not answer", "check the chain file")
        if self.faults.delay_seconds > self._seconds:
            raise ChainFault("timeout", "the chain is too slow", "check the machine's load")

        def locked() -> T:
            with self._lock:
                self._file.frozen, self._file.drop_reveals = self.faults.freeze_clock, self.faults.drop_reveals
                return action()

        await asyncio.sleep(self.faults.delay_seconds)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(locked)
        except TimeoutError:
            raise ChainFault("timeout", "the chain is too slow", "check the machine's load", when_late) from None
        except sqlite3.DatabaseError as fault:
            raise ChainFault("unreachable", f"the chain file cannot be used: {fault}", "check disk and locks") from None

    def _select_metagraph(self, block: int) -> Metagraph:
        owner = self._file.read("owner")
        parameters = self._file.parameters
        cutoff = parameters.activity_cutoff
        rows = self._file.db.execute(
            "SELECT n.uid, n.hotkey, n.coldkey, n.stake, n.permit, COALESCE(u.last_update, 0), n.registered_at, "
            "COALESCE(s.incentive, 0), COALESCE(s.dividends, 0), COALESCE(s.consensus, 0), "
            "COALESCE(s.validator_trust, 0), n.endpoint FROM neurons n "
            "LEFT JOIN updates u ON u.uid = n.uid AND u.mechid = ? "
            "LEFT JOIN shares s ON s.uid = n.uid AND s.mechid = ? "
            "ORDER BY n.uid",
            (self._mechid, self._mechid),
        ).fetchall()
        names = self._file.read_names()
        neurons = tuple(
            Neuron(uid, hotkey, coldkey, stake, bool(permit), updated + cutoff >= block, updated, *rest)
            for uid, hotkey, coldkey, stake, permit, updated, *rest in ((*row, names.get(row[1])) for row in rows)
        )
        holder = next((neuron for neuron in neurons if neuron.hotkey == owner), None)
        return Metagraph(block, parameters.netuid, owner, holder.coldkey if holder else None, neurons)

    def _select_rules(self, block: int) -> ChainRules:
        p, last = self._file.parameters, int(self._file.read("last_epoch_block"))
        return ChainRules(
            block=block,
            tempo=p.tempo,
            last_epoch_block=last,
            next_epoch_block=last + p.tempo if p.tempo else None,
            epoch_index=int(self._file.read("epoch_index")),
            rate_limit=p.rate_limit,
            min_allowed_weights=p.min_allowed_weights,
            max_weight_limit=p.max_weight_limit,
            version_key=p.version_key,
            commit_reveal=p.commit_reveal,
            reveal_period=p.reveal_period,
            activity_cutoff=p.activity_cutoff,
            immunity_period=p.immunity_period,
            stake_threshold=p.stake_threshold,
            max_validators=p.max_validators,
            kappa=p.kappa,
            consensus="yuma",
        )

    def _select_stored(self, block: int, hotkey: str) -> StoredWeights:
        db = self._file.db
        neuron = db.execute("SELECT uid, registered_at FROM neurons WHERE hotkey = ?", (hotkey,)).fetchone()
        if neuron is None:
            return StoredWeights(block, None, None, None, (), ())
        uid, registered_at = neuron
        updated = db.execute(
            "SELECT last_update FROM updates WHERE mechid = ? AND uid = ?", (self._mechid, uid)
        ).fetchone()
        row = db.execute(
            "SELECT dest, value FROM weights WHERE mechid = ? AND uid = ? ORDER BY dest", (self._mechid, uid)
        ).fetchall()
        commits = db.execute(
            "SELECT epoch, block, hash FROM commits WHERE mechid = ? AND hotkey = ? ORDER BY id", (self._mechid, hotkey)
        ).fetchall()
        sealed = tuple(WeightCommit(epoch, at, None, digest) for epoch, at, digest in commits)
        return StoredWeights(block, uid, registered_at, updated[0] if updated else 0, tuple(row), sealed)
