"""With what a result was computed: enough to compute it again."""

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
    from weighbeam.lab.worlds.make import WORLDS

    needed = bool(set(mechanisms) & WORLDS.keys())
    return Versions(__version__, platform.python_version(), numpy.__version__, name_senses() if needed else {})


def name_senses() -> dict[str, str]:
    from weighbeam.lab.worlds.make import load_senses

    senses = load_senses()
    return {
        senses.embedder.id: senses.embedder.digest,
        senses.entailment.id: senses.entailment.digest,
    }
