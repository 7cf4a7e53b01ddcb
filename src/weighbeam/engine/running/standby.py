"""A hot standby: everything is loaded, and nothing is done until the validator before it is gone for certain.

Both share one store, so the lock in it decides who runs. The chain must be silent too: what the first signed may still
be included after its lock is gone (docs/spec/chain.md § 10).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.chain.contract import ChainFault
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, log_fault
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights.assessment import WeighInContext

PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Silence:
    """The chain as a standby sees it: the newest block, and that of our hotkey's last weights or commit."""

    block: int
    active_at: int


@dataclass(frozen=True, slots=True)
class Gone:
    """The block at which the lock was first seen free, the holder that left it, and the newest submissions by then."""

    block: int
    holder: str | None
    submissions: tuple[int | None, ...]


@dataclass
class Standby:
    """Waits for its turn: no lock and `blocks` blocks without a sign of the hotkey, at once and to the end."""

    lock: HotkeyLock
    contexts: Sequence[WeighInContext]
    blocks: int
    pause_seconds: float = PAUSE_SECONDS
    _told: str = ""

    async def wait_for_turn(self) -> None:
        """Returns with the lock held; `standby_unshared` or `standby_unsafe` where waiting would prove nothing."""
        await asyncio.to_thread(self._require_traces)
        gone: Gone | None = None
        while True:
            try:
                gone = await self._look(gone)
                if gone is not None and await self._take(gone):
                    return
            except ChainFault as fault:
                log_fault(fault)
            except WeighbeamError as fault:
                if fault.code not in ("store_fault", "hotkey_locked"):
                    raise
                gone = None
                log_fault(fault)
            await asyncio.sleep(self.pause_seconds)

    async def _look(self, gone: Gone | None) -> Gone | None:
        """Since when the lock is free; None while somebody holds it.

        Another standby may have held it between two looks, and may have signed: then the count begins again.
        """
        holder = await asyncio.to_thread(self.lock.find_holder)
        if holder is not None:
            self._say(f"standby: {holder} runs the validator of {self.lock.name}")
            return None
        row, submissions = await asyncio.to_thread(self.lock.find_row), await asyncio.to_thread(self._list_newest)
        left_by = None if row is None else str(row.holder)
        if gone is not None and (gone.holder, gone.submissions) == (left_by, submissions):
            return gone
        block = (await self._listen()).block
        self._say(f"standby: the lock of {self.lock.name} is gone at block {block}; {self.blocks} silent blocks to go")
        return Gone(block, left_by, submissions)

    async def _take(self, gone: Gone) -> bool:
        """The lock, if all is silent; looked at again once it is ours, since another may have had it in between."""
        if not self._is_silent(await self._listen(), gone.block):
            return False
        left_by = await asyncio.to_thread(self.lock.take)
        try:
            unseen = (left_by, await asyncio.to_thread(self._list_newest)) != (gone.holder, gone.submissions)
            if not unseen and self._is_silent(await self._listen(), gone.block):
                LOG.warning("standby: takes over the hotkey %s", self.lock.name)
                return True
        except BaseException:
            await asyncio.to_thread(self.lock.release)
            raise
        await asyncio.to_thread(self.lock.release)
        return False

    def _list_newest(self) -> tuple[int | None, ...]:
        """The newest submission of each mechanism in the ledger."""
        newest = [context.ledger.rows(1) for context in self.contexts]
        return tuple(rows[-1].id if rows else None for rows in newest)

    def _is_silent(self, heard: Silence, gone_at: int) -> bool:
        return heard.block - max(gone_at, heard.active_at) >= self.blocks

    async def _listen(self) -> Silence:
        """Activity of our hotkey in every mechanism; each must be known to this store's ledger."""
        block, active_at = 0, 0
        for context in self.contexts:
            stored = await context.chain.stored(context.own_hotkey)
            block = max(block, (await context.chain.head()).block)
            updated = stored.last_update or 0
            active_at = max(active_at, updated)
            own = updated in (0, stored.registered_at)
            if not own and not await asyncio.to_thread(context.ledger.explains, updated):
                raise WeighbeamError(
                    "standby_unshared",
                    f"{context.mechanism.name}: weights of {context.own_hotkey} were set at block {updated}, and the "
                    "ledger of this store knows nothing of them: another store is in use",
                    "let both validators use one store: the same PostgreSQL, or on one machine the same file",
                )
        return Silence(block, active_at)

    def _require_traces(self) -> None:
        """A store in which no other validator ever was says nothing about one."""
        self.lock.require_near()
        if self.lock.find_row() is None and not any(context.ledger.rows(1) for context in self.contexts):
            raise WeighbeamError(
                "standby_unshared",
                f"nothing in this store was ever done by a validator of {self.lock.name}",
                "start the first validator on this store, then the standby; both need the same store.url",
            )

    def _say(self, text: str) -> None:
        if text != self._told:
            self._told = text
            LOG.info(text)
