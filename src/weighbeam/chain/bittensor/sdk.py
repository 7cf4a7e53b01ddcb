"""Load the SDK, set where it keeps its caches, and find its version."""

import importlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError

CACHES = {"BITTENSOR_RUNTIME_CACHE_DIR": "runtime", "BTCLI_TOKEN_SYMBOLS_CACHE": "token-symbols.json"}


def load_sdk(cache: Path) -> Any:
    """The package `bittensor`; what it caches goes into `cache`, never into somebody's home."""
    for variable, name in CACHES.items():
        os.environ[variable] = str(cache / name)
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        told = f"chain.cache cannot be made: {fault.filename}: {fault.strerror}"
        raise WeighbeamError("bad_config", told, "name a folder that can be written") from None
    try:
        return importlib.import_module("bittensor")
    except ImportError as fault:
        raise WeighbeamError(
            "no_bittensor", f"the chain's SDK cannot be imported: {fault}", "pip install 'weighbeam[bittensor]'"
        ) from None


def sdk_version() -> str:
    return version("bittensor")
