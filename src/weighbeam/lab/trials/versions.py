"""Versions a result was computed with: enough to compute it again."""

import platform
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Versions:
    """`senses` are digests of the models that the worlds use."""

    weighbeam: str
    python: str
    numpy: str
    senses: Mapping[str, str]


def note_versions(mechanisms: Collection[str]) -> Versions:
    import numpy

    from weighbeam import __version__
    from weighbeam.mechanism.registry import list_mechanisms

    named: dict[str, str] = {}
    for mechanism in sorted(set(mechanisms) & list_mechanisms().keys()):
        named |= name_senses(mechanism)
    return Versions(__version__, platform.python_version(), numpy.__version__, named)


def name_senses(mechanism: str) -> dict[str, str]:
    from weighbeam.lab.simulate.worlds import load_senses

    senses = load_senses(mechanism)
    return {
        senses.embedder.id: senses.embedder.digest,
        senses.entailment.id: senses.entailment.digest,
    }
