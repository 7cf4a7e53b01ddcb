"""Is it us? Three rules by which no miner is blamed for the validator's own fault (spec § 3). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weighbeam.network.ask import MinerReply

REFUSALS = {"stale": "clock", "401": "refused", "403": "refused", "wrong_receiver": "refused"}
"""Reasons by which a miner refuses the asker, not the task; and the reason that replaces each if the fault is ours."""


def blame_refused(heard: Sequence[MinerReply]) -> list[MinerReply]:
    """When more than half of the miners reached refuse us, we are at fault: their answers are `validator_error`.

    Otherwise a refusal is the miner's own fault, so pretending gains nothing unless most others do the same. A miner
    that was never reached says nothing about us; one that is late has not refused.

    >>> no, ok = MinerReply("a", "error", "403", 0.1), MinerReply("b", "ok", None, 0.1)
    >>> gone = MinerReply("c", "unreachable", "connect", 0.0)
    >>> [(reply.status, reply.reason) for reply in blame_refused([no, no, ok])]
    [('validator_error', 'refused'), ('validator_error', 'refused'), ('ok', None)]
    >>> [reply.status for reply in blame_refused([no, ok, gone])]
    ['error', 'ok', 'unreachable']
    """
    refused, reached = sum(map(is_refusal, heard)), sum(map(_is_reached, heard))
    if 2 * refused <= reached:
        return list(heard)
    return [
        replace(reply, status="validator_error", reason=REFUSALS[reply.reason or ""]) if is_refusal(reply) else reply
        for reply in heard
    ]


def is_refusal(reply: MinerReply) -> bool:
    """Whether the miner refused us."""
    return reply.status in ("error", "unreachable") and reply.reason in REFUSALS


def _is_reached(reply: MinerReply) -> bool:
    asked = reply.status not in ("unreachable", "validator_error") and reply.reason != "queue"
    return is_refusal(reply) or asked


ASIDE = ("no_endpoint", "bad_address")
LOST = ("connect", "resolve", "queue", None)


def blame_our_network(heard: Sequence[MinerReply], reachable: bool) -> list[MinerReply]:
    """If neither any dialled miner nor the probe could be reached, the fault is ours.

    Those never dialled (`no_endpoint`, `bad_address`), and our own other faults prove nothing either way. Any sign
    of life, be it a refusal or a cut reply, shows that our network works. If it does not, the whole round is void.
    """
    dialled = [reply for reply in heard if reply.status != "validator_error" and reply.reason not in ASIDE]
    if reachable or not dialled or not all(map(is_lost, dialled)):
        return list(heard)
    return [
        reply if reply.status == "validator_error" else replace(reply, status="validator_error", reason="network")
        for reply in heard
    ]


def is_lost(reply: MinerReply) -> bool:
    """Whether the miner gave no sign of life."""
    return reply.status in ("unreachable", "timeout") and reply.reason in LOST


MAX_LAG_SHARE = 0.1
"""Of the deadline: how late the event loop, or a request to ourselves, may be."""
MAX_LAG_SECONDS = 1.0
"""And however long the deadline is."""
MAX_STALLED_SHARE = 0.25
"""Of the deadline: how much of it the event loop may be late in all."""
DOUBTFUL = 0.5
"""Share of that above which we are at fault if most miners are late too."""
LATE = "late"


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late our own machine was while it asked, in seconds, and how many of the miners reached were late.

    `lag` is the longest that the event loop was late, `stalled` the most that it was late in all within one deadline,
    `probe` the slowest round trip of a request to ourselves; None if none can be made here.
    """

    deadline: float
    lag: float
    stalled: float
    probe: float | None
    reached: int = 0
    late: int = 0

    @property
    def is_ours(self) -> bool:
        """Whether the round is void: we were too late to time anybody fairly.

        However many miners are late, without a sign of our own it is theirs: most miners may belong to one operator,
        who must not be able to void rounds.

        >>> Lateness(20.0, lag=1.2, stalled=1.2, probe=0.01, reached=9, late=0).is_ours
        True
        >>> Lateness(20.0, lag=0.6, stalled=3.0, probe=0.01, reached=9, late=4).is_ours
        False
        >>> Lateness(20.0, lag=0.6, stalled=3.0, probe=0.01, reached=9, late=5).is_ours
        True
        >>> Lateness(20.0, lag=0.02, stalled=0.0, probe=0.01, reached=9, late=9).is_ours
        False
        """
        most_late = 2 * self.late > self.reached
        stalled = self.stalled > (DOUBTFUL if most_late else 1.0) * self.max_stalled
        return stalled or max(self.lag, self.probe or 0.0) > self.max_lag

    @property
    def max_lag(self) -> float:
        return min(MAX_LAG_SECONDS, MAX_LAG_SHARE * self.deadline)

    @property
    def max_stalled(self) -> float:
        return MAX_STALLED_SHARE * self.deadline

    def __str__(self) -> str:
        """
        >>> print(Lateness(20.0, lag=1.25, stalled=3.0, probe=0.01, reached=9, late=5))
        event loop up to 1.25 s late, 3.00 s in all; own probe 0.01 s; 5 of 9 miners late; deadline 20 s
        """
        probe = "not possible" if self.probe is None else f"{self.probe:.2f} s"
        loop = f"event loop up to {self.lag:.2f} s late, {self.stalled:.2f} s in all"
        return f"{loop}; own probe {probe}; {self.late} of {self.reached} miners late; deadline {self.deadline:g} s"


def count_late(measured: Lateness, heard: Sequence[MinerReply]) -> Lateness:
    """The measurement, plus how many reached miners were late."""
    reached = [reply for reply in heard if _is_reached(reply)]
    return replace(measured, reached=len(reached), late=sum(reply.status == "timeout" for reply in reached))


def blame_late(heard: Sequence[MinerReply], lateness: Lateness) -> list[MinerReply]:
    """If our own machine was late, the round is void: nobody's answer is kept, not even one that came in time.

    >>> late, ok = MinerReply("a", "timeout", None, 20.0), MinerReply("b", "ok", None, 0.1, {})
    >>> [(one.status, one.reason, one.payload) for one in blame_late([late, ok], Lateness(20.0, 2.0, 2.0, 0.1))]
    [('validator_error', 'late', None), ('validator_error', 'late', None)]
    >>> blame_late([late, ok], Lateness(20.0, 0.0, 0.0, 0.0)) == [late, ok]
    True
    """
    if not lateness.is_ours:
        return list(heard)
    return [
        reply
        if reply.status == "validator_error"
        else replace(reply, status="validator_error", reason=LATE, payload=None, proof=None)
        for reply in heard
    ]
