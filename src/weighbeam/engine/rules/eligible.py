"""The serving filter: which miners may be asked and paid at all (spec § 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer
from weighbeam.engine.rules.constants import WeighInLimits

Reason = Literal["self", "high_stake", "not_serving", "known_validator", "permit"]
REASONS: tuple[Reason, ...] = ("self", "high_stake", "not_serving", "known_validator")
NO_ADDRESS = ("", "0", "0.0.0.0", "::", "::0")
LIST_STATES = ("off", "fresh", "cached", "unreadable")


@dataclass(frozen=True, slots=True)
class ServingNode:
    """A registered neuron as the filter sees it."""

    hotkey: str
    uid: int
    stake_rao: int
    ip: str | int | None
    port: Any


@dataclass(frozen=True, slots=True)
class ValidatorList:
    """The known validators and how far the list can be trusted."""

    state: str = "off"
    hotkeys: frozenset[str] = frozenset()
    age_hours: float = 0.0


@dataclass(frozen=True, slots=True)
class Eligible:
    hotkeys: tuple[str, ...]
    excluded: dict[str, Reason]
    list_ok: bool


def filter_serving(
    own_hotkey: str, nodes: Sequence[ServingNode], validators: ValidatorList, limits: WeighInLimits
) -> Eligible:
    """Eligible hotkeys by uid, and the first reason against each other node.

    A list that is empty, too old or unreadable cannot be applied: `list_ok` says so and the weigh-in decides.
    """
    require(validators.state in LIST_STATES, "bad_state", f"list state {validators.state!r}", "give a known state")
    require(len({node.hotkey for node in nodes}) == len(nodes), "duplicate_hotkey")
    ok = _is_list_ok(validators, limits)
    known = validators.hotkeys if ok else frozenset[str]()
    excluded: dict[str, Reason] = {}
    eligible: list[str] = []
    for node in sorted(nodes, key=lambda node: node.uid):
        reason = _exclude(node, own_hotkey, known, limits)
        if reason is None:
            eligible.append(node.hotkey)
        else:
            excluded[node.hotkey] = reason
    return Eligible(tuple(eligible), excluded, ok)


def _is_list_ok(validators: ValidatorList, limits: WeighInLimits) -> bool:
    if validators.state == "off":
        return True
    too_old = validators.state == "cached" and validators.age_hours > limits.validator_list_max_age_hours
    return validators.state != "unreadable" and bool(validators.hotkeys) and not too_old


def _exclude(node: ServingNode, own_hotkey: str, known: frozenset[str], limits: WeighInLimits) -> Reason | None:
    if node.hotkey == own_hotkey:
        return "self"
    if node.stake_rao >= limits.max_miner_stake_rao:
        return "high_stake"
    address = "" if node.ip is None else str(node.ip).strip()
    if address in NO_ADDRESS or not is_integer(node.port, 1) or node.port > 65535:
        return "not_serving"
    return "known_validator" if node.hotkey in known else None
