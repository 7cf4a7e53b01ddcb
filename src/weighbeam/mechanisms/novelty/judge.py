"""What one contribution gets, once it is known how near its nearest neighbour is: pure, live as in replay."""

from dataclasses import dataclass
from typing import Literal

from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import reward_units

Status = Literal["paid", "held", "duplicate", "refused"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """`units` are earned if paid, and waiting if held."""

    status: Status
    units: int


def judge(micro: int, plausible: bool, params: NoveltyParams) -> Judgement:
    """A contribution that is no duplicate.

    >>> judge(850_000, plausible=False, params=NoveltyParams())
    Judgement(status='held', units=1000000000)
    """
    if not plausible and params.gate == "deny":
        return Judgement("refused", 0)
    held = not plausible and params.gate == "hold"
    return Judgement("held" if held else "paid", reward_units(micro, params))


DUPLICATE = Judgement("duplicate", 0)
