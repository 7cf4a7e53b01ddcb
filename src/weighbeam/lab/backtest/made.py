"""A weigh-in that the journal does not hold, of everyone its rounds asked, on a chain that is in order."""

from collections.abc import Mapping

from weighbeam.engine.weigh_in.burn import Burn
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.decide import Payee
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.engine.weigh_in.weighing import Weighing
from weighbeam.mechanisms.contract import Burns, Mechanism, Params


def make_weighing(now: float, uids: Mapping[str, int], burn: Burn | None) -> Weighing:
    """Who is there, at that time; raw weights are still to be found."""
    payees = tuple(Payee(hotkey, uid, 0.0, None) for hotkey, uid in sorted(uids.items(), key=lambda one: one[1]))
    return Weighing(payees, now, "NORMAL", 0, 0, WeighInLimits(), True, True, Averaging(), burn)


def make_burn(mechanism: Mechanism, params: Params) -> Burn | None:
    """Nobody is proven to be the subnet owner's."""
    return Burn(float(getattr(params, "burn_share", 0.0))) if isinstance(mechanism, Burns) else None
