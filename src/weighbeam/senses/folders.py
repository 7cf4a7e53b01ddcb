"""Where weighbeam keeps what it can make again."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """`WEIGHBEAM_CACHE`, else the user's cache folder. Deleting it costs time and nothing else."""
    chosen = os.environ.get("WEIGHBEAM_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weighbeam"
