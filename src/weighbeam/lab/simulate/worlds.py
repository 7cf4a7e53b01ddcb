"""Make and cache the lab world of a mechanism, by name."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.lab.simulate.example_world import ExampleWorld
from weighbeam.lab.simulate.world import World
from weighbeam.mechanism.registry import call_hook, load_mechanism
from weighbeam.senses.local import LocalSenses

KEPT: dict[tuple[str, bytes], World] = {}


@cache
def load_senses() -> LocalSenses:
    """The senses of all worlds of a process, which share what they have embedded."""
    options: dict[str, Any] = {}
    for found in call_hook("lab_senses").values():
        options |= found
    return LocalSenses(workers=1, **options)


def make_world(mechanism: str, params: Mapping[str, Any]) -> World:
    """The world of a mechanism with these parameters; the same one for the same parameters."""
    key = mechanism, canonical_json(dict(params))
    if key not in KEPT:
        loaded, senses = load_mechanism(mechanism), load_senses()
        KEPT[key] = loaded.lab_world(params, senses) or ExampleWorld(loaded, params, senses)
    return KEPT[key]
