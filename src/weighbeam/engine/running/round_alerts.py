"""Alerts of rounds that are not played because nobody may or can be asked, and their end."""

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts

OVER = {"no_permit": "our hotkey holds a validator permit"}
"""By code, what is true again once a round is played."""


def is_unplayed(fault: WeighbeamError) -> bool:
    """Whether nobody was asked: it costs no round and is no standstill."""
    return fault.code in OVER


def tell_unplayed(alerts: Alerts, mechanism: str, fault: WeighbeamError) -> None:
    """Raise the alert of a round that was not played."""
    alerts.tell("no_permit", "critical", f"no round: {fault.message}; {fault.remedy}", mechanism)


def end_unplayed(alerts: Alerts, mechanism: str) -> None:
    """A round was played: whatever kept us from asking is over."""
    alerts.end(OVER, mechanism)
