"""An intent to set weights: what was planned, how far it got, and what became of it (docs/spec/chain.md § 7). Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weighbeam.chain.contract import ChainRules, StoredWeights, WeightCommit

State = Literal["planned", "sent", "unknown", "included", "confirmed", "failed"]
OPEN: tuple[State, ...] = ("planned", "sent", "unknown")
UNSETTLED: tuple[State, ...] = (*OPEN, "included")
REACHED: tuple[State, ...] = ("included", "confirmed")


@dataclass(frozen=True, slots=True)
class WeightsPlan:
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
class WeightsIntent:
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
        """The weights found on chain, if they are why it failed."""
        return self.plan.get("found")

    @property
    def message(self) -> str | None:
        """The message of the side that refused."""
        return self.plan.get("message")

    def count_due(self, epoch: int) -> int:
        """Epochs since the reveal was due, below 0 before it; a commit may have landed an epoch after its plan."""
        return epoch - int(self.plan.get("commit_epoch", self.plan["epoch"])) - int(self.plan["reveal_period"])


@dataclass(frozen=True, slots=True)
class Verdict:
    """The next state of a row; `learnt` is added to its plan."""

    state: State
    reason: str | None = None
    learnt: Mapping[str, Any] = field(default_factory=dict)
    included_block: int | None = None


def judge(row: WeightsIntent, stored: StoredWeights, rules: ChainRules, replaced: bool) -> Verdict | None:
    """The verdict, or None while it is too early for one. `replaced`: a later row of ours is there."""
    if _is_registration_gone(row, stored):
        return None if _may_come(row, stored) else Verdict("failed", "not_registered")
    if row.state == "unknown":
        return _settle_unknown(row, stored)
    if row.plan["commit_reveal"]:
        return _confirm_reveal(row, stored, rules.epoch_index)
    return _confirm(row, stored, replaced)


def _is_registration_gone(row: WeightsIntent, stored: StoredWeights) -> bool:
    """Whether the hotkey was registered again since, or lost its place and its weights."""
    if stored.registered_at is None:
        return row.state == "included" and stored.block >= (row.included_block or 0)
    anew = row.sent_block is not None and stored.registered_at > row.sent_block
    return anew and not is_same(row, stored)


def _may_come(row: WeightsIntent, stored: StoredWeights) -> bool:
    """Whether what was sent without an answer can still be included."""
    period = row.plan.get("period") or 0
    return row.state == "unknown" and period > 0 and stored.block <= (row.sent_block or 0) + period


def _settle_unknown(row: WeightsIntent, stored: StoredWeights) -> Verdict | None:
    """The chain moved on since the plan, or it did not: that decides, once the submission can no longer come."""
    if (stored.last_update or 0) <= row.plan["last_update_before"]:
        return None if _may_come(row, stored) else Verdict("failed", "not_included")
    commit = find_commit(row, stored)
    if commit is not None:
        learnt = {"commit_reveal": True, "reveal_round": commit.reveal_round, **_note_sealed(commit, stored)}
        return Verdict("included", None, learnt, commit.block)
    if is_same(row, stored):
        return Verdict("confirmed", None, {}, stored.last_update)
    return Verdict("failed", "overwritten", _show(stored))


def _confirm_reveal(row: WeightsIntent, stored: StoredWeights, epoch: int) -> Verdict | None:
    """A commit is confirmed by its reveal. One epoch after that was due the stored row decides, whatever is sealed."""
    commit, shown = find_commit(row, stored), [list(pair) for pair in stored.row]
    if commit is not None and commit.epoch != row.plan.get("commit_epoch"):
        return Verdict("included", row.reason, _note_sealed(commit, stored))
    due = row.count_due(epoch)
    if due < 0 or (commit is not None and due == 0):
        return None
    if is_same(row, stored):
        return Verdict("confirmed")
    if shown != row.plan.get("row_before", shown):
        return Verdict("failed", "weights_differ", _show(stored))
    if due == 0:
        return None
    if row.included_block is not None and (stored.last_update or 0) > row.included_block:
        return Verdict("failed", "overwritten", _show(stored))
    return Verdict("failed", "reveal_missing")


def _confirm(row: WeightsIntent, stored: StoredWeights, replaced: bool) -> Verdict | None:
    if stored.block < (row.included_block or 0):
        return None
    if is_same(row, stored):
        return Verdict("confirmed")
    if (stored.last_update or 0) > (row.included_block or 0):
        return Verdict("failed", "superseded") if replaced else Verdict("failed", "overwritten", _show(stored))
    return Verdict("failed", "weights_differ", _show(stored))


def is_same(row: WeightsIntent, stored: StoredWeights) -> bool:
    """Whether the chain holds the row, each value within one unit."""
    ours, theirs = dict(row.weights), dict(stored.row)
    return ours.keys() == theirs.keys() and all(abs(ours[uid] - theirs[uid]) <= 1 for uid in ours)


def find_chain_faults(rows: Sequence[WeightsIntent], stored: StoredWeights) -> Iterator[str]:
    """Where a ledger, oldest row first, contradicts what the chain holds now."""
    newest = next((row for row in reversed(rows) if row.state in REACHED), None)
    written = stored.last_update or 0
    if stored.registered_at is None:
        return
    if newest is None:
        if stored.row:
            yield f"the chain holds weights since block {written}, but no submission is recorded here"
        return
    included = newest.included_block or 0
    if included and written > included:
        yield f"the chain was written in block {written}, submission {newest.id}, the newest here, in block {included}"
    elif written < included:
        yield f"submission {newest.id} says block {included}, the chain was last written in block {written}"
    elif newest.state == "confirmed" and not is_same(newest, stored):
        yield f"submission {newest.id} is recorded as confirmed, but the chain holds other weights"


def find_commit(row: WeightsIntent, stored: StoredWeights) -> WeightCommit | None:
    """Our commit, if it still waits for its reveal; others may use the hotkey, so it must be of our block and round."""
    return next((one for one in stored.commits if _is_ours(row, one)), None)


def _is_ours(row: WeightsIntent, commit: WeightCommit) -> bool:
    sent, period, planned = row.sent_block or 0, int(row.plan.get("period") or 0), int(row.plan["epoch"])
    if commit.block < sent or (period and commit.block > sent + period):
        return False
    if row.state == "unknown":
        return bool(period) or commit.epoch in (planned, planned + 1)
    return row.plan.get("reveal_round") in (None, commit.reveal_round) and row.included_block in (None, commit.block)


def _note_sealed(commit: WeightCommit, stored: StoredWeights) -> dict[str, Any]:
    """The epoch it is sealed in, and the row that its reveal will replace."""
    return {"commit_epoch": commit.epoch, "row_before": [list(pair) for pair in stored.row]}


def _show(stored: StoredWeights) -> dict[str, Any]:
    return {"found": [list(pair) for pair in stored.row]}
