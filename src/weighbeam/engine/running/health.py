"""Progress of each mechanism, as `/health` reports it and the watchdog acts on it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from weighbeam.engine.rules.constants import BLOCK_SECONDS


@dataclass(slots=True)
class Pulse:
    """One mechanism's progress in rounds and in weigh-ins. Times are monotonic seconds; `blocks_at` is the clock's."""

    advanced: float
    weighing: float
    rounds: int = 0
    discarded: int = 0
    weigh_ins: int = 0
    last_round: str | None = None
    last_fault: str | None = None
    mode: str | None = None
    blocks: int | None = None
    blocks_at: float = 0.0
    last_weigh_in: str | None = None
    next_due: float | None = None


@dataclass(slots=True)
class Health:
    """The pulses of all mechanisms. A mechanism that has not advanced for `patience` seconds is stalled.

    Rounds of `others` are played by other processes.
    """

    patience: float
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    pulses: dict[str, Pulse] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    def add(self, mechanism: str) -> Pulse:
        return self.pulses.setdefault(mechanism, Pulse(self.monotonic(), self.monotonic()))

    def advance(self, mechanism: str) -> None:
        """A round was committed, or there was nobody to ask."""
        self.pulses[mechanism].advanced = self.monotonic()

    def weigh(self, mechanism: str) -> None:
        """The weigh-in loop looked whether it is due."""
        self.pulses[mechanism].weighing = self.monotonic()

    def note_blocks(self, mechanism: str, blocks: int | None, at: float | None = None) -> None:
        """How many blocks ago our weights were set, as it was known at a time."""
        pulse = self.add(mechanism)
        pulse.blocks, pulse.blocks_at = blocks, self.now() if at is None else at

    def count_blocks(self, pulse: Pulse) -> int | None:
        """Blocks since our weights: what was known last, and one for every 12 seconds since."""
        if pulse.blocks is None:
            return None
        return pulse.blocks + int(max(0.0, self.now() - pulse.blocks_at) / BLOCK_SECONDS)

    def stalled(self) -> list[str]:
        oldest = self.monotonic() - self.patience
        return [name for name, pulse in self.pulses.items() if min(pulse.advanced, pulse.weighing) < oldest]

    def hung(self) -> list[str]:
        """Work on which this process itself hangs; a restart would not speed up rounds that other processes play."""
        oldest = self.monotonic() - self.patience
        return [name for name in self.stalled() if name not in self.others or self.pulses[name].weighing < oldest]

    def report(self) -> dict[str, Any]:
        now, stalled = self.monotonic(), self.stalled()
        rows = {
            name: {
                "seconds_since_progress": round(now - pulse.advanced, 1),
                "rounds": pulse.rounds,
                "discarded": pulse.discarded,
                "weigh_ins": pulse.weigh_ins,
                "last_round": pulse.last_round,
                "last_fault": pulse.last_fault,
                "mode": pulse.mode,
                "blocks_since_update": self.count_blocks(pulse),
                "last_weigh_in": pulse.last_weigh_in,
                "next_weigh_in_at": pulse.next_due,
            }
            for name, pulse in self.pulses.items()
        }
        return {"status": "stalled" if stalled else "ok", "stalled": stalled, "mechanisms": rows}
