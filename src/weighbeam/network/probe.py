"""Is it us? When no miner could be reached, our own network is probed before anybody is blamed (spec § 3)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.address import EndpointAddress, parse_endpoint
from weighbeam.network.ask import MinerReply

ASIDE = ("no_endpoint", "bad_address")
LOST = ("connect", "resolve", "queue", None)


async def can_reach(targets: Sequence[str], seconds: float = 3.0) -> bool:
    """Whether any of these `host:port` accepts a connection in time; none given is none reached."""
    attempts = [asyncio.create_task(_connect(place)) for place in map(parse_probe, targets)]
    try:
        for attempt in asyncio.as_completed(attempts, timeout=seconds):
            if await attempt:
                return True
    except TimeoutError:
        return False
    finally:
        for task in attempts:
            task.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)
    return False


def parse_probe(target: str) -> EndpointAddress:
    """A probe's host and port; a target that cannot be one is the operator's to correct, not a sign of trouble."""
    try:
        return parse_endpoint(target)
    except WeighbeamError:
        raise WeighbeamError("bad_probe", f"{target!r} cannot be probed", "write host:port") from None


async def _connect(place: EndpointAddress) -> bool:
    try:
        _, writer = await asyncio.open_connection(place.host, place.port)
    except (OSError, UnicodeError):
        return False
    writer.close()
    return True


def blame_our_network(heard: Sequence[MinerReply], reachable: bool) -> list[MinerReply]:
    """If nobody who was dialled could be reached and nor could the probe, it is nobody's fault but ours.

    Those never dialled (`no_endpoint`, `bad_address`), and our own other faults, are no evidence either way. Any sign
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
