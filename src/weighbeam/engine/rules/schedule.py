"""When the next weigh-in is due (docs/spec/weigh-in.md § 6). Pure: everything it looks at is in the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from weighbeam.engine.rules.constants import WEIGHTS_INTERVAL_SECONDS
from weighbeam.engine.rules.mode import ModeName

AttemptKind = Literal["skip", "submitted", "failed"]
SKIP_SECONDS = 300.0
BACK_OFF_SECONDS = (60.0, 120.0, 240.0, 300.0)
MAX_SECONDS: dict[ModeName, float] = {"NORMAL": 300.0, "DEGRADED": 120.0, "EMERGENCY": 60.0}


@dataclass(frozen=True, slots=True)
class WeighInAttempt:
    """One weigh-in that was made."""

    at: float
    kind: AttemptKind
    mode: ModeName


def find_due(last_submitted_at: float | None, tries: Sequence[WeighInAttempt]) -> float:
    """The time of the next weigh-in, given the tries so far, newest first; 0 if one is due at once.

    >>> find_due(1000.0, [WeighInAttempt(1000.0, "submitted", "NORMAL")])
    5320.0
    >>> find_due(None, [WeighInAttempt(50.0, "failed", "NORMAL"), WeighInAttempt(0.0, "failed", "NORMAL")])
    170.0
    """
    due = 0.0 if last_submitted_at is None else last_submitted_at + WEIGHTS_INTERVAL_SECONDS
    if not tries or tries[0].kind == "submitted":
        return due
    last = tries[0]
    if last.kind == "skip":
        return max(due, last.at + SKIP_SECONDS)
    failures = next((i for i, one in enumerate(tries) if one.kind != "failed"), len(tries))
    wait = BACK_OFF_SECONDS[min(failures, len(BACK_OFF_SECONDS)) - 1]
    return max(due, last.at + min(wait, MAX_SECONDS[last.mode]))


def is_stalled(reasons: Sequence[str | None]) -> bool:
    """Three equal skips in a row: the last three reasons, a reason of None being no skip.

    >>> is_stalled(["all_zero", "all_zero", "all_zero", None]), is_stalled(["all_zero", "rate_limited", "all_zero"])
    (True, False)
    """
    last = reasons[:3]
    return len(last) == 3 and last[0] is not None and len(set(last)) == 1
