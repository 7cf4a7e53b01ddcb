"""Gains and losses in shares of all weights, and similarity of the two orders."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.core.stats import effective_number, gini, kendall_tau, place_values, spearman, top_share
from weighbeam.lab.backtest.weigh_ins import WeighTally


@dataclass(frozen=True, slots=True)
class MinerShares:
    """Mean shares of the weights in force after each weigh-in, those in force in the end, and places by mean share."""

    hotkey: str
    uid: int | None
    before: float
    after: float
    last_before: float
    last_after: float
    place_before: int
    place_after: int

    @property
    def gain(self) -> float:
        return self.after - self.before

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "gain": self.gain}


def list_miners(tally: WeighTally) -> list[MinerShares]:
    """Everyone who was eligible, the largest gain first."""
    hotkeys = sorted(tally.uids)
    count = max(1, tally.counted)
    before = [tally.before.sums.get(hotkey, 0.0) / count for hotkey in hotkeys]
    after = [tally.after.sums.get(hotkey, 0.0) / count for hotkey in hotkeys]
    places, others = place_values(before, "best"), place_values(after, "best")
    found = [
        MinerShares(
            hotkey,
            tally.uids[hotkey],
            before[i],
            after[i],
            tally.before.last.get(hotkey, 0.0),
            tally.after.last.get(hotkey, 0.0),
            int(places[i]) + 1,
            int(others[i]) + 1,
        )
        for i, hotkey in enumerate(hotkeys)
    ]
    return sorted(found, key=lambda one: (-one.gain, one.place_before, one.hotkey))


def measure_concentration(shares: Sequence[float]) -> dict[str, float]:
    return {
        "gini": gini(shares),
        "top1": top_share(shares, 1),
        "top3": top_share(shares, 3),
        "effective_number": effective_number(shares),
    }


def correlate(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> dict[str, float | None]:
    """Over those who have a value on both sides; None where there is no order to compare."""
    both = [(before[hotkey], after[hotkey]) for hotkey in sorted(before.keys() & after.keys())]
    pairs = [(one, other) for one, other in both if one is not None and other is not None]
    old, new = [one for one, _ in pairs], [other for _, other in pairs]
    return {"kendall_tau_b": kendall_tau(old, new), "spearman": spearman(old, new)}
