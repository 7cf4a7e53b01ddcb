"""A miner's truth over time: an average over its reference rounds, and the factor on its pay that follows (spec § 17).

A lie pays in every round that has no reference. So what a miner was found to say in the others is carried over all of
them: the record is the standing that `stand` keeps, and its `factor` multiplies the average of emissions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.stats import move_average
from weighbeam.mechanism.records import Scored, Standing
from weighbeam.mechanisms.inference.params import InferenceParams


def fold_truth(params: InferenceParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
    """The records after a round; as they were if it had no reference."""
    found: Mapping[str, float] = scored.summary.get("truth") or {}
    if not found:
        return tuple(standings)
    after = {standing.hotkey: standing for standing in standings}
    for hotkey, truth in sorted(found.items()):
        kept = after[hotkey].detail if hotkey in after else begin_record(params)
        after[hotkey] = Standing(hotkey, None, move_record(kept, truth, params))
    return tuple(after[hotkey] for hotkey in sorted(after))


def begin_record(params: InferenceParams) -> dict[str, Any]:
    """Nobody is a liar before the first reference round, and nobody has credit to use up: the least that is enough."""
    return {"truth": params.truth_enough, "checked": 0, "factor": 1.0}


def move_record(record: Mapping[str, Any], truth: float, params: InferenceParams) -> dict[str, Any]:
    """
    >>> params = InferenceParams(truth_alpha=0.3, truth_enough=1.0, truth_power=2.0)
    >>> move_record(begin_record(params), 0.0, params)
    {'truth': 0.7, 'checked': 1, 'factor': 0.49}
    """
    average = round(move_average(record["truth"], truth, params.truth_alpha), 12)
    factor = round(min(1.0, average / params.truth_enough) ** params.truth_power, 12)
    return {"truth": average, "checked": record["checked"] + 1, "factor": factor}
