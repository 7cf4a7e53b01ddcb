"""Alerts of rounds that are not played because nobody may or can be asked, and their end."""

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts

OVER = {"no_permit": "this hotkey holds a validator permit", "too_few_miners": "there are miners to ask"}
"""By code, what is true again once a round is played."""


def is_unplayed(fault: WeighbeamError) -> bool:
    """Whether no miner was asked: this neither costs a round nor counts as a stall."""
    return fault.code in OVER


def tell_unplayed(alerts: Alerts, mechanism: str, fault: WeighbeamError) -> None:
    """Raise the alert of a round that was not played; where only miners are missing, the permit is there."""
    text = f"no round: {fault.message}; {fault.remedy}"
    if fault.code == "no_permit":
        alerts.tell("no_permit", "critical", text, mechanism)
    else:
        alerts.tell("too_few_miners", "warning", text, mechanism)
        alerts.end({"no_permit": OVER["no_permit"]}, mechanism)


def end_unplayed(alerts: Alerts, mechanism: str) -> None:
    """End alerts about unplayed rounds after a round was played."""
    alerts.end(OVER, mechanism)
