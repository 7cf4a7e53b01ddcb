"""When each miner was last asked and last succeeded, for the freshness gate. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from weighbeam.mechanism.records import Scored


@dataclass(frozen=True, slots=True)
class LastSeen:
    """One miner's last question and last success."""

    asked_at: float
    success_at: float | None


def note_round(
    before: Mapping[str, LastSeen], departed: Collection[str], at: float, scored: Scored
) -> dict[str, LastSeen]:
    """The memory after a round: the newest round wins, so that a clock that was ahead is forgotten.

    An unscored answer is our fault and no question; who left is forgotten.
    """
    after = {hotkey: seen for hotkey, seen in before.items() if hotkey not in departed}
    for score in scored.scores:
        if score.status == "unscored":
            continue
        known = after.get(score.hotkey)
        last = known.success_at if known else None
        after[score.hotkey] = LastSeen(at, at if score.status == "valid" else last)
    return after


def gate_success(seen: LastSeen | None, now: float, window_start: float, only_if_asked: bool) -> float | None:
    """The last success as the gate counts it; None means stale.

    With `only_if_asked`, a miner with a success that was not asked inside the window counts as successful now.

    >>> gate_success(LastSeen(50.0, 40.0), 100.0, 60.0, True), gate_success(LastSeen(70.0, 40.0), 100.0, 60.0, True)
    (100.0, None)
    """
    if seen is None or seen.success_at is None:
        return None
    if only_if_asked and seen.asked_at < window_start:
        return now
    return seen.success_at if seen.success_at >= window_start else None
