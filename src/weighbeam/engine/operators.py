"""Who is known to be one operator: hotkeys with the same coldkey, else at the same address (inference.md § 1)."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from weighbeam.chain.contract import Metagraph
from weighbeam.network.endpoints import Endpoint


def find_operators(graph: Metagraph, endpoints: Mapping[str, Endpoint]) -> dict[str, str]:
    """Hotkey → an opaque name of its operator. A hotkey that shows neither coldkey nor address is nobody's."""
    found: dict[str, str] = {}
    for neuron in graph.neurons:
        if neuron.coldkey:
            found[neuron.hotkey] = f"coldkey:{neuron.coldkey}"
        elif neuron.hotkey in endpoints:
            found[neuron.hotkey] = f"address:{urlsplit(endpoints[neuron.hotkey].url).hostname}"
    return found
