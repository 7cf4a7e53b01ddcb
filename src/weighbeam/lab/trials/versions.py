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

    needed = bool(set(mechanisms) & list_mechanisms().keys())
    return Versions(__version__, platform.python_version(), numpy.__version__, name_senses() if needed else {})


def name_senses() -> dict[str, str]:
    from weighbeam.lab.simulate.worlds import load_senses

    senses = load_senses()
    return {
        senses.embedder.id: senses.embedder.digest,
        senses.entailment.id: senses.entailment.digest,
    }
