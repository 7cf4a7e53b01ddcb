"""Which version's defaults a weight vector was made under, by the hash it carries."""

from weighbeam.engine.weigh_in.constants import Averaging, hash_weighing
from weighbeam.mechanisms.released import read_released


def find_version(mechanism: str, params_hash: str) -> str | None:
    """The newest version with these defaults, this version's constants and the default averages; None if it is none.

    >>> find_version("chunking", "0" * 64)
    """
    for version, defaults in reversed(read_released().items()):
        if mechanism in defaults and hash_weighing(mechanism, defaults[mechanism], Averaging()) == params_hash:
            return version
    return None
