"""A subnet on this machine: a chain file, made when it is first needed, and a place on it for each key."""

import time
from pathlib import Path

from weighbeam.chain.local.administer import register
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import BLOCK_SECONDS

SPEED = 24.0
"""Its clock runs as fast as the demo's, so that rounds and weights come within seconds."""
MECHANISMS = 16
"""As many as a mechanism id can name."""
PARAMETERS = SubnetParameters(
    mechanisms=MECHANISMS, tempo=20, rate_limit=5, immunity_period=100, activity_factor=250_000
)
EPOCH_SECONDS = (PARAMETERS.tempo + 1) * BLOCK_SECONDS / SPEED
"""After that a validator has its permit."""
VALIDATOR_STAKE = 1_000 * 10**9
"""In rao."""


def join_subnet(path: Path, hotkey: str, stake: int = 0) -> int | None:
    """Register a hotkey; gives its new uid, or None if it was registered before. A chain that is not there is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # It began an epoch ago, so its first validator has a permit when it starts.
        past = ChainFile.create(path, PARAMETERS, speed=SPEED, clock=lambda: time.time() - EPOCH_SECONDS)
        try:
            return register(past, hotkey, stake=stake)
        finally:
            past.close()
    file = ChainFile(path)
    try:
        return register(file, hotkey, stake=stake)
    except WeighbeamError as fault:
        if fault.code != "already_registered":
            raise
        return None
    finally:
        file.close()
