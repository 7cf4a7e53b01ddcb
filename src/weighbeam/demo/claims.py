"""What the demo claims, looked at again in its result. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

LATE = ("no_chunks", "timeout")
SMALLEST = 1 / 65535


def find_failures(result: Mapping[str, Any]) -> list[str]:
    """Every claim that did not come true: weights confirmed, the honest paid best, the caught paid least, replay equal.

    >>> find_failures({"mechanisms": {}, "replay": {"equal": False, "faults": ["round-1: scores differ"]}})
    ['replay: round-1: scores differ']
    """
    found = [f"replay: {fault}" for fault in result["replay"]["faults"]]
    for name, part in result["mechanisms"].items():
        found += [f"{name}: {fault}" for fault in (*_check_weights(part), *_check_pay(part))]
    return found


def _check_weights(part: Mapping[str, Any]) -> Iterator[str]:
    for row in part["validators"]:
        if row["weigh_in"] != "confirmed":
            yield f"the weights of {row['name']} are not confirmed: {row['weigh_in']}"


def _check_pay(part: Mapping[str, Any]) -> Iterator[str]:
    """An honest miner that this machine was too busy for proves nothing either way."""
    honest = [row for row in part["miners"] if row["role"] == "honest" and (row["valid"] or row["reason"] not in LATE)]
    share = sum(row["incentive"] for row in honest)
    if share <= 0.5:
        yield f"the honest earn {share:.1%} in all"
    least = min((row["incentive"] for row in honest), default=0.0)
    for row in honest:
        if not row["incentive"]:
            yield f"{row['name']} is honest and earns nothing"
    for row in part["miners"]:
        if row["caught"] and row["incentive"] >= max(least, SMALLEST):
            yield f"{row['name']} earns {row['incentive']:.1%}, no less than an honest miner"
