"""An intent to set weights: what was planned, and how far it got."""

from dataclasses import dataclass
from typing import Any, Literal

State = Literal["planned", "sent", "unknown", "included", "confirmed", "failed"]
OPEN: tuple[State, ...] = ("planned", "sent", "unknown")
UNSETTLED: tuple[State, ...] = (*OPEN, "included")
REACHED: tuple[State, ...] = ("included", "confirmed")


@dataclass(frozen=True, slots=True)
class Plan:
    """A vector to submit and what it was planned against; `holders` are hotkey and registration of each uid."""

    uids: tuple[int, ...]
    values: tuple[int, ...]
    holders: tuple[tuple[str, int], ...]
    version_key: int
    block: int
    epoch: int
    last_update_before: int
    commit_reveal: bool
    reveal_period: int
    mode: str
    params_hash: str
    entry: str
    period: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One intent and how far it got. `plan` is what was planned and learnt since; older records lack some of it."""

    id: int
    state: State
    reason: str | None
    weights: tuple[tuple[int, int], ...]
    plan: dict[str, Any]
    sent_block: int | None
    included_block: int | None
    at: float

    @property
    def found(self) -> list[list[int]] | None:
        """What the chain held instead, where that is why it failed."""
        return self.plan.get("found")

    @property
    def message(self) -> str | None:
        """The fault in the words of whoever refused."""
        return self.plan.get("message")

    def count_due(self, epoch: int) -> int:
        """Epochs since the reveal was due, below 0 before it; a commit may have landed an epoch after its plan."""
        return epoch - int(self.plan.get("commit_epoch", self.plan["epoch"])) - int(self.plan["reveal_period"])
