"""Seeded chance: every draw of a season follows from its seed and from what it is drawn for, not from what came before.

So a miner more, or a round less, leaves all other draws as they were, and two seasons of one seed can be compared.
"""

import numpy as np

from weighbeam.core.canonical import seeded_digest


def draw(seed: int, *what: str | int) -> np.random.Generator:
    """A generator of its own for one purpose.

    >>> bool(draw(1, "task", 3).random() == draw(1, "task", 3).random() != draw(1, "task", 4).random())
    True
    """
    return np.random.Generator(np.random.PCG64(int(seeded_digest(seed, *what)[:32], 16)))
