"""A miner over time: the moving average of its scores. Pure."""

from collections.abc import Sequence

from keyword_recall.params import RecallParams
from weighbeam.core.averaging import move_average
from weighbeam.mechanisms.contract import Scored, Standing


def stand_after(params: RecallParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
    """The unscored keep their standing: a validator's fault is charged to nobody."""
    after = {standing.hotkey: standing for standing in standings}
    for score in scored.scores:
        if score.value is not None:
            before = after.get(score.hotkey, Standing(score.hotkey, None)).value or 0.0
            after[score.hotkey] = Standing(score.hotkey, move_average(before, score.value, params.alpha))
    return tuple(after[hotkey] for hotkey in sorted(after))
