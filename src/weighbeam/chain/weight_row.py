"""Weights to a u16 row, what the chain makes of it, and whether it takes it (docs/spec/chain.md §§ 2, 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.core.yuma.fixed import HALF, U16_MAX, divide, multiply, whole

UPSCALE_LIMIT = 32768

CODES = {
    "NotEnoughStakeToSetWeights": "low_stake",
    "SettingWeightsTooFast": "rate_limited",
    "CommittingWeightsTooFast": "rate_limited",
    "RateLimitExceeded": "rate_limited",
    "CommitRevealEnabled": "commit_reveal_mismatch",
    "CommitRevealDisabled": "commit_reveal_mismatch",
    "IncorrectCommitRevealVersion": "commit_reveal_mismatch",
    "TooManyUnrevealedCommits": "commit_reveal_mismatch",
    "InvalidRevealRound": "commit_reveal_mismatch",
    "CanNotSetRootNetworkWeights": "no_subnet",
    "MechanismDoesNotExist": "no_subnet",
    "WeightVecNotEqualSize": "bad_weights",
    "UidsLengthExceedUidsInSubNet": "bad_weights",
    "DuplicateUids": "bad_weights",
    "UidVecContainInvalidOne": "bad_weights",
    "MaxWeightExceeded": "bad_weights",
    "HotKeyNotRegisteredInSubNet": "not_registered",
    "IncorrectWeightVersionKey": "version_key",
    "NeuronNoValidatorPermit": "no_permit",
    "WeightVecLengthIsLow": "too_few_weights",
}


@dataclass(frozen=True, slots=True)
class WeightRow:
    """Ascending uids and u16 values, none zero, the largest 65535."""

    uids: tuple[int, ...]
    values: tuple[int, ...]
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SubnetRules:
    """Rules that the chain applies to a submission."""

    block: int
    netuid: int
    n: int
    mechanisms: int
    commit_reveal: bool
    stake_threshold: int
    version_key: int
    rate_limit: int
    min_allowed_weights: int
    owner_uid: int | None


@dataclass(frozen=True, slots=True)
class Sender:
    """The submitting hotkey; `uid` is None if it is not registered."""

    uid: int | None
    stake: int
    permit: bool
    last_update: int


@dataclass(frozen=True, slots=True)
class WeightSubmission:
    mechid: int
    uids: tuple[int, ...]
    values: tuple[int, ...]
    version_key: int


def emit_row(
    uids: Sequence[Any],
    values: Sequence[Any],
    n: int,
    min_allowed: int = 1,
    max_weight_limit: int = U16_MAX,
    own_uid: int | None = None,
) -> WeightRow:
    """Non-negative numbers as the row to submit; what becomes 0 is dropped and listed.

    >>> emit_row([4, 1], [1.0, 0.5], 8)
    WeightRow(uids=(1, 4), values=(32768, 65535), dropped=())
    """
    require(len(uids) == len(values), "bad_length", "uids and values must have the same length")
    require(all(is_number(value, 0) or is_integer(value, 0) for value in values), "bad_value")
    require(all(is_integer(uid, 0) and uid < n for uid in uids), "bad_uid")
    require(len(set(uids)) == len(uids), "duplicate_uids")
    largest = max(map(float, values), default=0.0)
    require(largest > 0, "all_zero")
    scaled = sorted((uid, round(float(value) / largest * U16_MAX)) for uid, value in zip(uids, values, strict=True))
    kept = [(uid, value) for uid, value in scaled if value]
    lone_self = len(kept) == 1 and kept[0][0] == own_uid
    require(len(kept) >= min(min_allowed, n) or lone_self, "too_few_weights")
    total = sum(value for _, value in kept)
    within = max_weight_limit >= U16_MAX or max_weight_limit * total >= U16_MAX * U16_MAX
    require(within or lone_self, "max_weight_limit")
    dropped = tuple(uid for uid, value in scaled if not value)
    return WeightRow(tuple(uid for uid, _ in kept), tuple(value for _, value in kept), dropped)


def upscale_row(values: Sequence[int]) -> list[int]:
    """The row as the chain stores it: scaled in fixed point so that its largest value is 65535.

    >>> upscale_row([40000, 20000])
    [65535, 32767]
    """
    largest = max(values, default=0)
    if largest == 0:
        return [0] * len(values)
    if largest > UPSCALE_LIMIT:
        factor = divide(whole(U16_MAX), whole(largest))
        scaled = [multiply(whole(value), factor) for value in values]
    else:
        scaled = [divide(multiply(whole(value), whole(U16_MAX)), whole(largest)) for value in values]
    return [min(U16_MAX, (value + HALF) >> 32) for value in scaled]


def refuse_submission(rules: SubnetRules, sender: Sender, submission: WeightSubmission) -> str | None:
    """The chain's own name for the first check that fails, in the chain's order; None if it takes the row."""
    return refuse_sender(rules, sender) or refuse_row(rules, sender, submission)


def refuse_sender(rules: SubnetRules, sender: Sender) -> str | None:
    """The guards that run before the call, and whether plain weights are taken at all."""
    owner = sender.uid is not None and sender.uid == rules.owner_uid
    if sender.stake < rules.stake_threshold and not owner:
        return "NotEnoughStakeToSetWeights"
    waited = sender.last_update == 0 or rules.block - sender.last_update >= rules.rate_limit
    if not rules.commit_reveal and sender.uid is not None and not waited:
        return "SettingWeightsTooFast"
    return "CommitRevealEnabled" if rules.commit_reveal else None


def refuse_row(rules: SubnetRules, sender: Sender, submission: WeightSubmission) -> str | None:
    """Checks 4 to 14, which a reveal passes through too."""
    uids = submission.uids
    lone_self = len(uids) == 1 and uids[0] == sender.uid
    owner = sender.uid is not None and sender.uid == rules.owner_uid
    checks: Mapping[str, bool] = {
        "CanNotSetRootNetworkWeights": rules.netuid != 0,
        "WeightVecNotEqualSize": len(uids) == len(submission.values),
        "MechanismDoesNotExist": submission.mechid < rules.mechanisms,
        "UidsLengthExceedUidsInSubNet": len(uids) <= rules.n,
        "HotKeyNotRegisteredInSubNet": sender.uid is not None,
        "IncorrectWeightVersionKey": rules.version_key in (0, submission.version_key)
        or submission.version_key > rules.version_key,
        "NeuronNoValidatorPermit": sender.permit or owner or lone_self,
        "DuplicateUids": len(set(uids)) == len(uids),
        "UidVecContainInvalidOne": all(uid < rules.n for uid in uids),
        "WeightVecLengthIsLow": len(uids) >= min(rules.min_allowed_weights, rules.n) or lone_self,
    }
    return next((name for name, holds in checks.items() if not holds), None)
