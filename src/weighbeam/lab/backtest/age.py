"""How old the weights on the chain would be, had other decisions been made than the journal's.

As long as both set weights at the same weigh-ins, the chain's own count holds. From the first one that only one of them
set, blocks are counted by the clock, until both set weights again.
"""

import math
from dataclasses import dataclass

from weighbeam.engine.weigh_in.weighing import Weighing


@dataclass(slots=True)
class Age:
    """Of one side and one mechanism; weights that are decided on are taken to arrive."""

    in_step: bool = True
    blocks: int = 0
    at: float = 0.0

    def count(self, weighing: Weighing) -> int:
        """
        >>> from weighbeam.lab.backtest.made import make_weighing
        >>> Age(in_step=False, blocks=300, at=0.0).count(make_weighing(1200.0, {}, None))
        400
        """
        if self.in_step:
            return weighing.blocks
        return self.blocks + max(0, math.floor((weighing.now - self.at) / weighing.limits.block_seconds))

    def note(self, now: float, blocks: int, action: str, recorded: str) -> None:
        """After a weigh-in: what was done, and what the journal did."""
        if action != recorded:
            self.in_step = False
        elif action == "submit":
            self.in_step = True
        self.blocks, self.at = (0 if action == "submit" else blocks), now
