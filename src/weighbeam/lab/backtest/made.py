"""A weigh-in that the journal does not hold, of everyone its rounds asked, on a chain that is in order.

It averages, keeps limits and burns as the nearest one does that the journal holds.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace

from weighbeam.engine.weigh_in.burn import Burn
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.decide import Payee
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.engine.weigh_in.weighing import Weighing
from weighbeam.lab.backtest.survey import Survey, Weighed
from weighbeam.mechanisms.abilities import Burns
from weighbeam.mechanisms.contract import Mechanism, Params

DEFAULT = Weighed(0, 0.0, Averaging(), WeighInLimits())


class Nearest:
    """Of some recorded weigh-ins, that which is nearest to a time."""

    def __init__(self, weighed: Iterable[Weighed]) -> None:
        self._weighed = sorted(weighed, key=lambda one: (one.at, one.sequence))
        self._times = [one.at for one in self._weighed]

    def find(self, at: float) -> Weighed | None:
        """
        >>> found = Nearest(replace(DEFAULT, at=time) for time in (10.0, 20.0))
        >>> [found.find(at).at for at in (0.0, 14.0, 16.0, 99.0)], Nearest([]).find(0.0)
        ([10.0, 10.0, 20.0, 20.0], None)
        """
        place = bisect_left(self._times, at)
        near = self._weighed[max(0, place - 1) : place + 1]
        return min(near, key=lambda one: abs(one.at - at), default=None)


class Maker:
    """Makes weigh-ins of one mechanism as its own are recorded, or else as any is."""

    def __init__(self, survey: Survey, mechanism: Mechanism) -> None:
        own, every = survey.list_weighed(mechanism.name), survey.list_weighed()
        self._mechanism = mechanism
        self._like = Nearest(own or every)
        self._burns = Nearest([one for one in own if one.burn] or [one for one in every if one.burn])

    def make(self, now: float, uids: Mapping[str, int], params: Params) -> Weighing:
        like, burnt = self._like.find(now) or DEFAULT, self._burns.find(now)
        burn = make_burn(self._mechanism, params, burnt.burn if burnt else None)
        return make_weighing(now, uids, burn, like)


def make_weighing(now: float, uids: Mapping[str, int], burn: Burn | None, like: Weighed = DEFAULT) -> Weighing:
    """Who is there, at that time; raw weights are still to be found."""
    payees = tuple(Payee(hotkey, uid, 0.0, None) for hotkey, uid in sorted(uids.items(), key=lambda one: one[1]))
    return Weighing(payees, now, "NORMAL", 0, 0, like.limits, True, True, like.averaging, burn)


def make_burn(mechanism: Mechanism, params: Params, recorded: Burn | None) -> Burn | None:
    """Who was proven to be the subnet owner's takes it; if nobody was, nobody does."""
    if not isinstance(mechanism, Burns):
        return None
    return replace(recorded or Burn(0.0), share=float(getattr(params, "burn_share", 0.0)))
