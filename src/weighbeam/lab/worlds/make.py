"""The world of a mechanism, by name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.world import World
from weighbeam.mechanisms.evidence.bank import find_archive
from weighbeam.senses.local import LocalSenses

WORLDS = {
    "chunking": "ChunkingWorld",
    "inference": "InferenceWorld",
    "evidence": "EvidenceWorld",
    "novelty": "NoveltyWorld",
}
KEPT: dict[tuple[str, bytes], World] = {}


@cache
def load_senses() -> LocalSenses:
    """The senses of all worlds of a process: what they have embedded once they remember."""
    return LocalSenses(workers=1, pages=f"archive:{find_archive()}")


def make_world(mechanism: str, params: Mapping[str, Any]) -> World:
    """The world of a mechanism with these parameters; the same one for the same parameters."""
    if mechanism not in WORLDS:
        raise WeighbeamError(
            "unknown_world", f"the lab has no world for {mechanism!r}", f"use one of {', '.join(WORLDS)}"
        )
    key = mechanism, canonical_json(dict(params))
    if key not in KEPT:
        kind = getattr(import_module(f"weighbeam.lab.worlds.{mechanism}"), WORLDS[mechanism])
        KEPT[key] = kind(params, load_senses())
    return KEPT[key]
