"""Is it us? When most miners refuse us, no miner is blamed for it (spec § 3)."""

from collections.abc import Sequence
from dataclasses import replace

from weighbeam.network.ask import MinerReply

REFUSALS = {"stale": "clock", "401": "refused", "403": "refused", "wrong_receiver": "refused"}
"""Reasons by which a miner turns away the asker and not the task, and what each becomes if it is our own fault."""


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
    """Whether the miner turned us away."""
    return reply.status in ("error", "unreachable") and reply.reason in REFUSALS


def _is_reached(reply: MinerReply) -> bool:
    asked = reply.status not in ("unreachable", "validator_error") and reply.reason != "queue"
    return is_refusal(reply) or asked
