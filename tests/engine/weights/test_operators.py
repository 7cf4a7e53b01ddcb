"""Who is one operator: by coldkey, else by address."""

from weighbeam.chain.contract import Metagraph, Neuron
from weighbeam.engine.weights.discovery import find_operators
from weighbeam.network.endpoints import Endpoint


def neuron(uid: int, hotkey: str, coldkey: str) -> Neuron:
    return Neuron(uid, hotkey, coldkey, 0, False, True, 0, 0, 0, 0, 0, 0, None)


def test_a_coldkey_joins_hotkeys_and_an_address_only_those_that_show_none() -> None:
    shown = {"a": "cold", "b": "cold", "c": "other", "d": "", "e": "", "f": ""}
    graph = Metagraph(1, 1, None, None, tuple(neuron(i, *pair) for i, pair in enumerate(shown.items())))
    ports = {"a": 1, "c": 2, "d": 3, "e": 4}
    endpoints = {key: Endpoint(f"http://203.0.113.7:{port}", "btauth/1", "chain") for key, port in ports.items()}
    found = find_operators(graph, endpoints)
    assert found["a"] == found["b"] != found["c"]
    assert found["d"] == found["e"] == "address:203.0.113.7"
    assert "f" not in found
