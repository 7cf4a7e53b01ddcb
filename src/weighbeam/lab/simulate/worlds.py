"""Make and cache the lab world of a mechanism, by name."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.engine.support.package_faults import contain
from weighbeam.lab.simulate.example_world import ExampleWorld
from weighbeam.lab.simulate.world import World
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses

KEPT: dict[tuple[str, bytes], World] = {}
SENSES: list[tuple[dict[str, Any], LocalSenses]] = []


@cache
def load_senses(mechanism: str) -> LocalSenses:
    """The senses that a mechanism's world needs; worlds with equal options share what they have embedded."""
    loaded = load_mechanism(mechanism)
    with contain(mechanism, "lab_senses"):
        options = {"workers": 1, **loaded.lab_senses()}
        for known, senses in SENSES:
            if known == options:
                return senses
        made = LocalSenses(**options)
    SENSES.append((options, made))
    return made


def make_world(mechanism: str, params: Mapping[str, Any]) -> World:
    """The world of a mechanism with these parameters; the same one for the same parameters."""
    key = mechanism, canonical_json(dict(params))
    if key not in KEPT:
        loaded, senses = load_mechanism(mechanism), load_senses(mechanism)
        KEPT[key] = loaded.lab_world(params, senses) or ExampleWorld(loaded, params, senses)
    return KEPT[key]
