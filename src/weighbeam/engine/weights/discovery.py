"""Discover the endpoints of miners on a thread of its own, and which hotkeys belong to one operator (inference.md §
1).
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

from weighbeam.chain.contract import Metagraph
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.network.endpoints import ChainSource, Endpoint, find_endpoints

SECONDS = 30.0
Find = Callable[[Metagraph], Mapping[str, Endpoint]]


def find_announced(graph: Metagraph) -> Mapping[str, Endpoint]:
    """Endpoints as the neurons announced them."""
    return find_endpoints([ChainSource()], {neuron.hotkey: neuron.endpoint for neuron in graph.neurons})


class Discovery:
    """Endpoints of a metagraph's neurons. A source that hangs costs `seconds` once, and old endpoints stand in."""

    def __init__(self, find: Find = find_announced, seconds: float = SECONDS) -> None:
        self._find = find
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "discover")
        self._pending: Future[Mapping[str, Endpoint]] | None = None
        self._hangs = False
        self._known: Mapping[str, Endpoint] | None = None

    async def look(self, graph: Metagraph) -> Mapping[str, Endpoint]:
        """Rounds that begin at the same time share a look; one that hangs is waited for once."""
        if self._pending is None or self._pending.done():
            self._pending, self._hangs = self._thread.submit(self._find, graph), False
        if not self._hangs:
            try:
                async with asyncio.timeout(self._seconds):
                    self._known = await asyncio.wrap_future(self._pending)
            except TimeoutError:
                self._hangs = True
        if self._hangs:
            log_fault(_late(self._seconds))
        if self._known is None:
            raise _late(self._seconds)
        return self._known


def _late(seconds: float) -> WeighbeamError:
    return WeighbeamError(
        "endpoints_timeout", f"no endpoints within {seconds:g} s", "fix or remove the source that hangs"
    )


def find_operators(graph: Metagraph, endpoints: Mapping[str, Endpoint]) -> dict[str, str]:
    """Hotkey → an opaque name of its operator. A hotkey that shows neither coldkey nor address is nobody's."""
    found: dict[str, str] = {}
    for neuron in graph.neurons:
        if neuron.coldkey:
            found[neuron.hotkey] = f"coldkey:{neuron.coldkey}"
        elif neuron.hotkey in endpoints:
            found[neuron.hotkey] = f"address:{urlsplit(endpoints[neuron.hotkey].url).hostname}"
    return found
