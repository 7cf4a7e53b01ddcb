"""The ways a read ends before there is a page, each with the outcome it stands for."""

from weighbeam.senses.page import Outcome


class Ended(Exception):
    """The read is over; `why` is one word for the record."""

    outcome: Outcome = "unreachable"

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Refused(Ended):
    """The guard says no."""

    outcome: Outcome = "refused"


class Unreachable(Ended):
    """No answer: name, connection, certificate, protocol, time or hop limit."""


class Blocked(Ended):
    """The host does not want it read."""

    outcome: Outcome = "blocked"


class TooLarge(Ended):
    """A cap was met."""

    outcome: Outcome = "too_large"


class Unreadable(Ended):
    """The content cannot be decoded, or its parser was stopped."""

    outcome: Outcome = "unreadable"
