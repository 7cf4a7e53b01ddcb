"""The chain that settings name: the local file, or Bittensor through its SDK."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from weighbeam.chain.bittensor.connection import Level
from weighbeam.chain.contract import Chain, Metagraph, Rules
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG
from weighbeam.engine.clock import Clock, WallClock
from weighbeam.network.keys import Hotkey
from weighbeam.settings.load import Loaded

T = TypeVar("T")
Tell = Callable[[str, Level, str], None]


def open_chain(loaded: Loaded, hotkey: Hotkey, mechid: int, tell: Tell | None = None) -> Chain:
    """`tell` gets what the connection itself has to say to an operator; else it is logged."""
    section = loaded.settings.chain
    if section.kind == "local":
        return LocalChain(open_file(loaded), hotkey, mechid)
    from weighbeam.chain.bittensor.port import BittensorChain

    if section.netuid is None:
        raise WeighbeamError("bad_config", "chain.netuid is not set", "name the subnet: chain.netuid = N")
    told: dict[str, Any] = {} if tell is None else {"tell": tell}
    place = section.endpoint, section.netuid
    return BittensorChain(*place, hotkey, loaded.path(section.cache), mechid, section.fallbacks, **told)


def open_file(loaded: Loaded) -> ChainFile:
    return ChainFile(loaded.path(loaded.settings.chain.path))


def open_clock(loaded: Loaded) -> Clock:
    """A local chain's own clock, which may run faster than the wall's; else the wall's."""
    return ChainClock(open_file(loaded)) if loaded.settings.chain.kind == "local" else WallClock()


def look_at_chain(loaded: Loaded, hotkey: Hotkey) -> tuple[Metagraph, Rules]:
    """One look, before anything runs; the highest mechanism id must be there too."""
    mechids = [section.mechid for section in loaded.settings.mechanisms.values()]
    chain = open_chain(loaded, hotkey, max(mechids, default=0))

    async def look() -> tuple[Metagraph, Rules]:
        try:
            return await chain.metagraph(), await chain.rules()
        finally:
            await chain.close()

    return asyncio.run(look())


def check_ids(loaded: Loaded) -> None:
    """Each mechanism has an id of its own, and a local chain has it too."""
    ids = [section.mechid for section in loaded.settings.mechanisms.values()]
    if loaded.settings.chain.kind == "local":
        file = open_file(loaded)
        most = file.parameters.mechanisms
        file.close()
        if any(mechid >= most for mechid in ids):
            told = f"a mechid of {max(ids)}: this chain has {most} mechanisms"
            raise WeighbeamError("bad_config", told, "count from 0")
    if len(ids) != len(set(ids)):
        raise WeighbeamError("bad_config", "two mechanisms have the same mechid", "give each an id of its own")
    if not ids:
        raise WeighbeamError("bad_config", "no mechanism is set", "write [mechanisms.chunking]")


def check_registered(loaded: Loaded, hotkey: Hotkey) -> None:
    """`not_registered` unless our hotkey is on the chain; a reveal that outlives immunity is warned about."""
    graph, rules = look_at_chain(loaded, hotkey)
    if graph.find(hotkey.address) is None:
        told = f"our hotkey {hotkey.address} is not on this chain"
        raise WeighbeamError("not_registered", told, "register it, or correct wallet and chain")
    if rules.commit_reveal and rules.immunity_period <= rules.reveal_period * rules.tempo:
        LOG.warning("newcomers may be gone before weights are revealed: immunity %d blocks", rules.immunity_period)


def find_hotkeys(loaded: Loaded, hotkeys: Sequence[str], own: Callable[[], Hotkey]) -> None:
    """`unknown_hotkey` if one of them is not on the chain."""
    if not hotkeys:
        return
    graph, _ = look_at_chain(loaded, own())
    for hotkey in hotkeys:
        if graph.find(hotkey) is None:
            raise WeighbeamError("unknown_hotkey", f"{hotkey!r} is not registered", "see weighbeam leaderboard")
