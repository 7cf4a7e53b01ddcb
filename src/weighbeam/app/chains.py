"""The chain that the settings name, and the request policy that follows its metagraph."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.chain.bittensor.connection import Level
from weighbeam.chain.contract import Chain, ChainFault, ChainRules, Metagraph
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.chain.proxies import Delegation, Proxying, advise_right, describe_right, refuse_delegate
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, log_fault
from weighbeam.engine.support.clock import EngineClock, WallClock
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM
from weighbeam.network.keys import Hotkey, is_address
from weighbeam.network.policy import SenderPolicy, SenderStanding

T = TypeVar("T")
ChainReport = Callable[[str, Level, str], None]


def open_chain(
    loaded: LoadedSettings, hotkey: Hotkey, mechid: int, tell: ChainReport | None = None, stall: float | None = None
) -> Chain:
    """`tell` gets what the connection itself has to say to an operator; else it is logged. `stall` is how many seconds
    it waits for a block."""
    section, proxying = loaded.settings.chain, find_proxying(loaded)
    if section.kind == "local":
        return LocalChain(open_file(loaded), hotkey, mechid, proxying=proxying)
    from weighbeam.chain.bittensor.connection import CallTimeouts
    from weighbeam.chain.bittensor.port import BittensorChain

    if section.netuid is None:
        raise WeighbeamError("bad_config", "chain.netuid is not set", "name the subnet: chain.netuid = N")
    told: dict[str, Any] = {"proxying": proxying} | ({} if tell is None else {"tell": tell})
    if stall is not None:
        told["limits"] = CallTimeouts(stall=stall)
    place = section.endpoint, section.netuid
    return BittensorChain(*place, hotkey, loaded.path(section.cache), mechid, section.fallbacks, **told)


def find_proxying(loaded: LoadedSettings) -> Proxying | None:
    """For whom the wallet's key signs weights, if not for itself."""
    section = loaded.settings.chain
    if section.proxy_for is None:
        if section.proxy_type is not None:
            told = "chain.proxy_type is set, but not whose proxy the wallet's key is"
            raise WeighbeamError("bad_config", told, "set chain.proxy_for to the hotkey that the weights belong to")
        return None
    if not is_address(section.proxy_for):
        told = f"chain.proxy_for: {section.proxy_for!r} is not a valid hotkey"
        raise WeighbeamError("bad_config", told, "write its ss58 address")
    return Proxying(section.proxy_for, section.proxy_type)


def find_own_hotkey(loaded: LoadedSettings, hotkey: Hotkey) -> str:
    """The hotkey that our weights belong to: the wallet's, or the one that its key is a proxy of."""
    proxying = find_proxying(loaded)
    return hotkey.address if proxying is None else proxying.real


def open_file(loaded: LoadedSettings) -> ChainFile:
    return ChainFile(loaded.path(loaded.settings.chain.path))


def open_clock(loaded: LoadedSettings) -> EngineClock:
    """A local chain's own clock, which may run faster than the wall's; else the wall's."""
    return ChainClock(open_file(loaded)) if loaded.settings.chain.kind == "local" else WallClock()


@dataclass(frozen=True, slots=True)
class ChainLook:
    """The chain before anything runs; `delegations` of the hotkey that our weights belong to, if we are its proxy."""

    graph: Metagraph
    rules: ChainRules
    delegations: tuple[Delegation, ...]


def look_at_chain(loaded: LoadedSettings, hotkey: Hotkey) -> ChainLook:
    """Read the chain once before anything runs; the highest mechanism id must exist."""
    proxying = find_proxying(loaded)
    mechids = [section.mechid for section in loaded.settings.mechanisms.values()]
    chain = open_chain(loaded, hotkey, max(mechids, default=0))

    async def look() -> ChainLook:
        try:
            graph, rules = await chain.metagraph(), await chain.rules()
            return ChainLook(graph, rules, () if proxying is None else await chain.delegations(proxying.real))
        finally:
            await chain.close()

    return asyncio.run(look())


def check_ids(loaded: LoadedSettings) -> None:
    """Each mechanism has an id of its own, and a local chain has it too."""
    ids = [section.mechid for section in loaded.settings.mechanisms.values()]
    if loaded.settings.chain.kind == "local":
        file = open_file(loaded)
        count = file.parameters.mechanisms
        file.close()
        if any(mechid >= count for mechid in ids):
            told = f"a mechid of {max(ids)}: this chain has {count} mechanisms"
            raise WeighbeamError("bad_config", told, "count from 0")
    if len(ids) != len(set(ids)):
        raise WeighbeamError("bad_config", "two mechanisms have the same mechid", "give each an id of its own")
    if not ids:
        raise WeighbeamError("bad_config", "no mechanism is set", f"write [mechanisms.{DEFAULT_MECHANISM}]")


def check_registered(loaded: LoadedSettings, hotkey: Hotkey) -> None:
    """`not_registered` unless our hotkey is on the chain, `no_proxy_right` unless our key may sign for it.

    A reveal that outlives immunity is warned about.
    """
    look, proxying, own = look_at_chain(loaded, hotkey), find_proxying(loaded), find_own_hotkey(loaded, hotkey)
    rules = look.rules
    if look.graph.find(own) is None:
        held = [neuron.hotkey for neuron in look.graph.neurons if neuron.coldkey == own]
        told = f"this hotkey, {own}, is not registered on this chain"
        if held:
            told = f"{own} is a coldkey; weights belong to a hotkey, and it holds {', '.join(held)}"
        raise WeighbeamError("not_registered", told, "register it, or correct wallet and chain")
    if proxying is not None:
        require_right(look.delegations, hotkey.address, proxying)
    if rules.commit_reveal and rules.immunity_period <= rules.reveal_period * rules.tempo:
        LOG.warning(
            "new miners may be deregistered before weights are revealed: immunity lasts %d blocks",
            rules.immunity_period,
        )


def require_right(given: Sequence[Delegation], signer: str, proxying: Proxying) -> None:
    """`no_proxy_right` unless our key may set the hotkey's weights now."""
    if refuse_delegate(given, signer, proxying.kind) is not None:
        told = describe_right(given, signer, proxying)
        raise WeighbeamError("no_proxy_right", told, advise_right(signer, proxying))


def check_hotkeys_registered(loaded: LoadedSettings, hotkeys: Sequence[str], own: Callable[[], Hotkey]) -> None:
    """`unknown_hotkey` if one of them is not on the chain."""
    if not hotkeys:
        return
    graph = look_at_chain(loaded, own()).graph
    for hotkey in hotkeys:
        if graph.find(hotkey) is None:
            raise WeighbeamError("unknown_hotkey", f"{hotkey!r} is not registered", "see weighbeam journal leaderboard")


REFRESH_SECONDS = 300.0
RETRY_SECONDS = 10.0


async def keep_policy(chain: Chain, clock: EngineClock, policy: SenderPolicy) -> None:
    """Refresh the policy until cancelled."""
    while True:
        fresh = await refresh_policy(chain, policy)
        await clock.sleep(REFRESH_SECONDS if fresh else RETRY_SECONDS)


async def refresh_policy(chain: Chain, policy: SenderPolicy) -> bool:
    """Update who may ask; if the chain does not answer, the last state is used for an hour."""
    try:
        graph = await chain.metagraph()
    except ChainFault as fault:
        log_fault(fault)
        return False
    policy.update({neuron.hotkey: SenderStanding(neuron.permit, neuron.stake) for neuron in graph.neurons})
    return True
