"""A proxy key: which delegations let it set a hotkey's weights (docs/spec/chain.md § 8). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

WEIGHING = ("NonFungible", "NonTransfer", "NonCritical", "Any")
"""Proxy types that may set weights, the narrowest first."""
TYPES = (
    *("Any", "Owner", "NonCritical", "NonTransfer", "Senate", "NonFungible", "Triumvirate", "Governance", "Staking"),
    *("Registration", "Transfer", "SmallTransfer", "RootWeights", "ChildKeys", "SudoUncheckedSetCode", "SwapHotkey"),
    *("SubnetLeaseBeneficiary", "RootClaim", "BasketTrading"),
)
"""All of them, as the chain numbers them; it keeps an account's delegations by key, then by this number."""
PROXY_CODES = dict.fromkeys(("NotProxy", "CallFiltered", "Unproxyable", "Unannounced"), "no_proxy_right")


@dataclass(frozen=True, slots=True)
class Proxying:
    """We sign for `real`, the hotkey that the weights belong to; `kind` insists on a delegation of that type."""

    real: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Delegation:
    """The right that an account gave to `delegate`; with a `delay`, calls have to be announced that many blocks ago."""

    delegate: str
    kind: str
    delay: int = 0


def find_delegation(given: Sequence[Delegation], delegate: str, kind: str | None) -> Delegation | None:
    """The delegation that the chain uses: the first one of this key, of the type insisted on if there is one.

    >>> both = [Delegation("5P", "Staking"), Delegation("5P", "NonFungible")]
    >>> find_delegation(both, "5P", None).kind, find_delegation(both, "5P", "NonFungible").kind
    ('Staking', 'NonFungible')
    """
    return next((one for one in given if one.delegate == delegate and kind in (None, one.kind)), None)


def refuse_delegate(given: Sequence[Delegation], delegate: str, kind: str | None) -> str | None:
    """The chain's name for why this key may not set weights, if it may not.

    >>> refuse_delegate([], "5P", None)
    'NotProxy'
    >>> refuse_delegate([Delegation("5P", "NonFungible", delay=10)], "5P", None)
    'Unannounced'
    >>> refuse_delegate([Delegation("5P", "Staking")], "5P", None)
    'CallFiltered'
    >>> refuse_delegate([Delegation("5P", "NonFungible")], "5P", None) is None
    True
    """
    found = find_delegation(given, delegate, kind)
    if found is None:
        return "NotProxy"
    if found.delay:
        return "Unannounced"
    return None if found.kind in WEIGHING else "CallFiltered"


def describe_right(given: Sequence[Delegation], delegate: str, proxying: Proxying) -> str:
    """Describe this key's right for an operator."""
    refusal = refuse_delegate(given, delegate, proxying.kind)
    found = find_delegation(given, delegate, proxying.kind)
    if found is None:
        own = [one.kind for one in given if one.delegate == delegate]
        wanted = "no proxy" if proxying.kind is None else f"no proxy of type {proxying.kind}"
        also = f"; it has the type {', '.join(own)}" if own else ""
        return f"{delegate} is {wanted} of {proxying.real}{also}"
    if refusal == "Unannounced":
        return f"{delegate} is a proxy of {proxying.real} with a delay of {found.delay} blocks: weights cannot wait"
    if refusal is None:
        return f"{delegate} signs for {proxying.real} as its proxy of type {found.kind}"
    other = next((one for one in given if one.delegate == delegate and one.kind in WEIGHING and not one.delay), None)
    hint = "" if other is None else f"; it also has {other.kind}: set chain.proxy_type to that"
    return f"{delegate} is a proxy of {proxying.real} of type {found.kind}, which may not set weights{hint}"


def advise_right(delegate: str, proxying: Proxying) -> str:
    kind = proxying.kind if proxying.kind in WEIGHING else WEIGHING[0]
    return f"let {proxying.real} add {delegate} as its proxy of type {kind} without delay, then try again"
