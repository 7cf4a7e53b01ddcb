"""How long each call may take; tests scale them down."""

from dataclasses import dataclass


@dataclass(slots=True)
class Limits:
    """Seconds. The SDK's own limit does not cover subscriptions, so every call is held to these."""

    connect: float = 20.0
    read: float = 30.0
    submit: float = 120.0
    stall: float = 120.0
    close: float = 5.0
