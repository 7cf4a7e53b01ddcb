"""The Bittensor chain behind the port: one subnet and mechanism id, seen by a hotkey or its proxy; local checks before
signing, and a signer that signs once.
"""

import ipaddress
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weighbeam.chain.bittensor.connection import CallTimeouts, Level, SdkConnection, Tell, find_gate
from weighbeam.chain.bittensor.faults import make_fault, map_returned
from weighbeam.chain.bittensor.queries import (
    fetch_delegations,
    fetch_metagraph,
    fetch_rules,
    fetch_stored,
    find_index,
    item,
    pick,
)
from weighbeam.chain.bittensor.sdk import load_sdk
from weighbeam.chain.contract import ChainFault, ChainHead, ChainRules, Metagraph, StoredWeights, SubmissionReceipt
from weighbeam.chain.contract import Path as SubmitPath
from weighbeam.chain.proxies import Delegation, Proxying, describe_right, refuse_delegate
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.yuma.fixed import U16_MAX
from weighbeam.network.keys import Hotkey, is_signed


def refuse_locally(
    graph: Metagraph, rules: ChainRules, hotkey: str, uids: Sequence[int], values: Sequence[int], version_key: int
) -> ChainFault | None:
    """Why the chain would refuse this row now, if it would; nothing is sent then."""
    own = graph.find(hotkey)
    if own is None:
        return make_fault("not_registered", f"{hotkey} is not registered on subnet {graph.netuid}")
    owner = hotkey == graph.owner_hotkey
    lone_self = list(uids) == [own.uid]
    if own.stake < rules.stake_threshold and not owner:
        return make_fault("low_stake", f"{own.stake} rao, at least {rules.stake_threshold} are needed")
    if rules.version_key > version_key:
        return make_fault(
            "version_key", f"the chain asks for version key {rules.version_key}, this validator's is {version_key}"
        )
    if not (own.permit or owner or lone_self):
        return make_fault("no_permit", f"{hotkey} holds no validator permit")
    if len(uids) < min(rules.min_allowed_weights, len(graph.neurons)) and not lone_self:
        return make_fault("too_few_weights", f"{len(uids)} entries, at least {rules.min_allowed_weights} are needed")
    if rules.max_weight_limit * sum(values) < U16_MAX * max(values, default=0) and not lone_self:
        return make_fault("bad_weights", f"the largest weight is over the subnet's limit {rules.max_weight_limit}")
    return None


class OnceSigner:
    """Signs one extrinsic, and none that could still be included in or after block `before`."""

    def __init__(self, hotkey: Hotkey, mortality: int, before: int | None) -> None:
        self._hotkey = hotkey
        self._mortality = mortality
        self._before = before
        self.signed = self.retired = False
        self.ss58_address = hotkey.address
        self.public_key = hotkey.public_key
        self.crypto_type = hotkey.crypto_type

    def sign(self, payload: bytes) -> bytes:
        if self.signed or self.retired:
            raise make_fault("timeout", "a signature was requested too late, or twice")
        self.signed = True
        return self._hotkey.sign(payload)

    def retire(self) -> None:
        """Sign nothing more, whatever still runs."""
        self.retired = True

    def sign_unsigned_extrinsic(self, unsigned: Any) -> bytes:
        """The SDK shows the whole extrinsic; its era says until when it lives."""
        dies = int(unsigned.era["current"]) + self._mortality
        if self._before is not None and dies > self._before:
            raise make_fault("timeout", f"it could be included until block {dies - 1}: too late for this plan")
        return self.sign(unsigned.payload)

    def __repr__(self) -> str:
        return f"OnceSigner({self.ss58_address})"


LOG = logging.getLogger("weighbeam")
MORTALITY = 32
SLACK = 8
RECENT_SECONDS = 60.0


def _log(code: str, level: Level, text: str) -> None:
    LOG.log(logging.CRITICAL if level == "critical" else logging.WARNING, "%s: %s", code, text)


class BittensorChain:
    """`period` is the extrinsic's mortality and what may pass between the plan and the signature."""

    period = MORTALITY + SLACK

    def __init__(
        self,
        endpoint: str,
        netuid: int,
        hotkey: Hotkey,
        cache: Path,
        mechid: int = 0,
        fallbacks: Sequence[str] = (),
        limits: CallTimeouts | None = None,
        tell: Tell = _log,
        proxying: Proxying | None = None,
    ) -> None:
        self._sdk = load_sdk(cache)
        self._endpoints = [endpoint, *fallbacks]
        self._netuid, self._mechid, self._hotkey = netuid, mechid, hotkey
        self._proxying = proxying
        self._own = hotkey.address if proxying is None else proxying.real
        self._limits = limits or CallTimeouts()
        self._make_client()
        self._graph: tuple[float, Metagraph] | None = None
        self._rules: tuple[float, ChainRules] | None = None
        self._connection = SdkConnection(self._make_client, self._limits, tell, self._turn_away)

    def _make_client(self) -> Any:
        """Bound to one subnet and to spending nothing."""
        policy = self._sdk.Policy(max_spend_tao=0, allowed_netuids=[self._netuid])
        first, *rest = self._endpoints
        try:
            return self._sdk.Client(first, policy=policy, fallback_endpoints=rest, archive_endpoints=[])
        except ValueError as fault:
            raise WeighbeamError("bad_config", f"chain.endpoint: {fault}", "name a network or a ws:// URL") from None

    def _turn_away(self) -> None:
        """The SDK leaves an endpoint that is gone, not one that stands still: the next client begins with another."""
        self._endpoints = [*self._endpoints[1:], self._endpoints[0]]

    async def head(self) -> ChainHead:
        async def look(client: Any) -> ChainHead:
            client = await self._connection.renew(client)
            block = await client.block()
            newest = await self._connection.note_block(client, block)
            block_hash = await client._substrate.block_hash(block)
            finalized, seconds = await client.finalized_block(), await client.block_time()
            return ChainHead(newest, block_hash, finalized, await client.spec_version(), seconds)

        return await self._connection.read(look)

    async def metagraph(self) -> Metagraph:
        async def look(client: Any) -> Metagraph:
            return await fetch_metagraph(await self._pin(client), self._netuid, self._mechid)

        graph = await self._connection.read(look)
        self._graph = time.monotonic(), graph
        return graph

    async def rules(self) -> ChainRules:
        async def look(client: Any) -> ChainRules:
            return await fetch_rules(await self._pin(client), self._netuid, self._mechid)

        rules = await self._connection.read(look)
        self._rules = time.monotonic(), rules
        return rules

    async def _pin(self, client: Any) -> Any:
        """A view of the newest block, which must have moved on in time and be of the runtime we know."""
        client = await self._connection.renew(client)
        view = await client.at()
        await self._connection.note_block(client, view.block)
        return view

    async def blocks_since_update(self, hotkey: str) -> int | None:
        async def look(client: Any) -> int | None:
            view = await self._pin(client)
            uid = await view.query(item("Uids"), [self._netuid, hotkey])
            if uid is None:
                return None
            updates = await view.query(item("LastUpdate"), [find_index(self._netuid, self._mechid)])
            return int(view.block) - pick(updates, int(uid))

        return await self._connection.read(look)

    async def stored(self, hotkey: str) -> StoredWeights:
        async def look(client: Any) -> StoredWeights:
            view = await client.at(await client.finalized_block())
            return await fetch_stored(view, self._netuid, self._mechid, hotkey)

        return await self._connection.read(look)

    async def delegations(self, account: str) -> tuple[Delegation, ...]:
        async def look(client: Any) -> tuple[Delegation, ...]:
            return await fetch_delegations(await self._pin(client), account)

        return await self._connection.read(look)

    async def submit(
        self, uids: Sequence[int], values: Sequence[int], version_key: int, before: int | None = None
    ) -> SubmissionReceipt:
        """Sends once; one submission of this key at a time."""
        async with find_gate(self._hotkey.address):
            graph, rules = await self._look_again()
            refusal = refuse_locally(graph, rules, self._own, uids, values, version_key) or await self._refuse_proxy()
            if refusal is not None:
                raise refusal
            try:
                return await self._send(dict(zip(uids, values, strict=True)), version_key, before)
            except ChainFault as fault:
                if fault.code != "rate_limited":
                    raise
                retry = await self._find_retry(rules.rate_limit)
                raise make_fault(fault.code, fault.message, fault.outcome, retry) from None

    async def _refuse_proxy(self) -> ChainFault | None:
        """Why the chain would not let our key sign for the hotkey, if it would not."""
        if self._proxying is None:
            return None
        given, signer = await self.delegations(self._own), self._hotkey.address
        if refuse_delegate(given, signer, self._proxying.kind) is None:
            return None
        return make_fault("no_proxy_right", describe_right(given, signer, self._proxying))

    async def _look_again(self) -> tuple[Metagraph, ChainRules]:
        """Metagraph and rules; those just read for the ledger will do."""
        since = time.monotonic() - RECENT_SECONDS
        graph = self._graph[1] if self._graph and self._graph[0] > since else await self.metagraph()
        rules = self._rules[1] if self._rules and self._rules[0] > since else await self.rules()
        return graph, rules

    async def _find_retry(self, rate_limit: int) -> int | None:
        """The first block at which weights may be set again, if the chain tells."""
        with suppress(ChainFault):
            head, since = await self.head(), await self.blocks_since_update(self._own)
            return None if since is None else head.block - since + rate_limit
        return None

    async def blocks(self) -> AsyncGenerator[int, None]:
        """A subscription; a node from which no block comes for `stall` seconds is left for the next endpoint."""
        client = await self._connection.open()
        stream = client.blocks()

        async def step() -> Any:
            return await anext(stream, None)

        try:
            while True:
                header = await self._connection.hold(client, step(), self._limits.stall)
                if header is None:
                    raise make_fault("unreachable", "the subscription of blocks ended")
                yield int(header.number)
        except ChainFault as fault:
            if fault.code == "timeout":
                self._turn_away()
                raise make_fault("stalled", f"no block within {self._limits.stall:g} s") from None
            raise
        finally:
            await self._connection.drop(client)

    async def time(self) -> float:
        async def look(client: Any) -> float:
            return float((await client.timestamp()).timestamp())

        return await self._connection.read(look)

    async def announce(self, endpoint: str) -> None:
        host, _, port = endpoint.rpartition(":")
        address = str(ipaddress.ip_address(host.strip("[]")))
        async with find_gate(self._hotkey.address):
            await self._execute(self._sdk.ServeAxon(netuid=self._netuid, ip=address, port=int(port)), None)

    async def _send(self, row: dict[int, int], version_key: int, before: int | None) -> SubmissionReceipt:
        intent = self._sdk.SetWeights(netuid=self._netuid, weights=row, mechid=self._mechid, version_key=version_key)
        result = await self._execute(intent, before)
        reveal = result.data.get("reveal_round")
        block = int(result.extrinsic_id.partition("-")[0])
        path: SubmitPath = "plain" if reveal is None else "commit"
        return SubmissionReceipt(path, block, result.block_hash, result.extrinsic_id, reveal)

    async def _execute(self, intent: Any, before: int | None) -> Any:
        """Sign once, send once; the SDK's result if the call was included and went through."""
        client, signer = await self._connection.open(), OnceSigner(self._hotkey, MORTALITY, before)
        proxied: dict[str, Any] = {}
        if self._proxying is not None:
            proxied = {"proxy_for": self._proxying.real, "proxy_type": self._proxying.kind}

        async def work() -> Any:
            """The account's next nonce is fetched again: another client may have sent since this one did."""
            client._substrate.raw.clear_nonce_cache_for_account(self._hotkey.address)
            waiting = {"wait_for_inclusion": True, "wait_for_finalization": True}
            return await client.execute(intent, signer, retries=0, period=MORTALITY, **proxied, **waiting)

        try:
            result = await self._connection.hold(client, work(), self._limits.submit, lambda: signer.signed)
        finally:
            signer.retire()
        if not result.success:
            if result.error.name in (None, "BadProof", "AncientBirthBlock"):
                await self._connection.drop(client)
            raise map_returned(result.error, bool(proxied))
        if result.extrinsic_id is None:
            raise make_fault("outcome_unknown", "included in no known block", "unknown")
        return result

    def sign(self, message: bytes) -> bytes:
        return self._hotkey.sign(message)

    def verify(self, message: bytes, signature: bytes, hotkey: str) -> bool:
        return is_signed(message, signature, hotkey, "sr25519")

    async def close(self) -> None:
        await self._connection.close()
