"""How old our weights on the chain are, as it says, or as it said last."""

from weighbeam.engine.weigh_in.assess import Reading, Scale
from weighbeam.engine.weigh_in.mode import Estimate
from weighbeam.store.database import Store
from weighbeam.store.remember import recall, remember

INTERVAL_BLOCKS = 360
"""A weigh-in's interval of 72 minutes in blocks of 12 seconds."""


def is_late(reading: Reading) -> bool:
    """More than one and a half tempos since our weights, or weigh-ins where a tempo is shorter than their interval."""
    if reading.rules is None or reading.blocks is None or reading.first:
        return False
    return 2 * reading.blocks > 3 * max(reading.rules.tempo, INTERVAL_BLOCKS)


def estimate_age(scale: Scale, reading: Reading, now: float) -> Estimate | None:
    """The last confirmed reading, for a chain that cannot be read; a reading that can be is kept for later."""
    if reading.blocks is not None:
        remember(scale.journal.store, name_blocks(scale.mechanism.name), {"blocks": reading.blocks, "at": now})
        return None
    return recall_age(scale, now)


def recall_age(scale: Scale, now: float) -> Estimate | None:
    kept = recall(scale.journal.store, name_blocks(scale.mechanism.name))
    return None if kept is None else Estimate(kept["blocks"], now - kept["at"])


def recall_blocks(store: Store, mechanism: str) -> tuple[int, float] | None:
    """How many blocks old our weights were when that was known last, and when that was."""
    kept = recall(store, name_blocks(mechanism))
    return None if kept is None else (int(kept["blocks"]), float(kept["at"]))


def name_blocks(mechanism: str) -> str:
    """Under which name it is remembered."""
    return f"blocks:{mechanism}"
