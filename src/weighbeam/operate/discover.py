"""Where miners are found, as the settings say."""

from collections.abc import Mapping

from weighbeam.chain.contract import Metagraph
from weighbeam.engine.discovery import Discovery
from weighbeam.network.endpoints import Endpoint, Report, find_endpoints, open_sources
from weighbeam.settings.load import Loaded


def make_discovery(loaded: Loaded, report: Report) -> Discovery:
    """Endpoints of a metagraph's neurons, from the sources in their order."""
    validator = loaded.settings.validator
    file = None if validator.endpoints_file is None else loaded.path(validator.endpoints_file)
    sources = open_sources(validator.endpoints, report, file, validator.dialect)

    def discover(graph: Metagraph) -> Mapping[str, Endpoint]:
        return find_endpoints(sources, {neuron.hotkey: neuron.endpoint for neuron in graph.neurons})

    return Discovery(discover)
