"""Faults of the SDK as one type of our own. Unknown names are kept, never mapped by guess."""

import re
from typing import Any

from weighbeam.chain.bittensor.sdk import sdk_version
from weighbeam.chain.contract import ChainFault, Outcome
from weighbeam.chain.proxies import PROXY_CODES
from weighbeam.chain.weight_row import CODES

NAMES = {
    **CODES,
    "StakeAmountTooLow": "low_stake",
    "SubnetNotExists": "no_subnet",
    "ServingRateLimitExceeded": "rate_limited",
    **dict.fromkeys(("InvalidIpAddress", "InvalidIpType", "InvalidPort"), "bad_address"),
    "PriorityTooLow": "priority_too_low",
    **dict.fromkeys(
        ("Invalid", "BadProof", "Stale", "Future", "AncientBirthBlock", "Payment", "Call"), "pool_rejected"
    ),
    **dict.fromkeys(("ExhaustsResources", "BadSigner", "CannotLookup", "NoUnsignedValidator"), "pool_rejected"),
}
UNDECIDED = ("AlreadyImported", "Usurped", "Retracted", "FinalityTimeout", "Dropped")
PREFLIGHT = {"not_registered": "not_registered", "rate_limited": "rate_limited", "not_authorized": "no_permit"}
MAX_TEXT = 600
POOL = re.compile(r"^(invalid transaction|unknown transaction|transaction (is temporarily|pool))|banned", re.IGNORECASE)
BROKEN = (ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError)
REMEDIES = {
    "unreachable": "check the endpoint; the connection is reopened",
    "timeout": "check the endpoint; the connection is reopened",
    "stalled": "check the endpoint; the connection is reopened",
    "endpoint_refused": "wait, or use a node of your own",
    "outcome_unknown": "none needed: the chain is read back",
    "rate_limited": "wait for the block named",
    "priority_too_low": "another submission of this hotkey is in the pool: it is read back, not sent again",
    "pool_rejected": "see the message; it is planned again",
    "not_registered": "register the hotkey",
    "no_permit": "more stake, or wait for the next epoch",
    "low_stake": "stake at least the threshold",
    "version_key": "upgrade Weighbeam or the mechanism",
    "too_few_weights": "the mechanism must weigh more miners",
    "bad_weights": "this is a defect: report it",
    "commit_reveal_mismatch": "the rules are read again and the weights are planned again",
    "no_proxy_right": "let the hotkey add this key as its proxy again, of a type that may set weights, without delay",
    "bad_address": "set miner.announce to an address that validators can reach",
    "no_subnet": "check chain.netuid and the mechanism's mechid",
    "runtime_mismatch": "upgrade the SDK: pip install --upgrade 'weighbeam[bittensor]'",
    "unsupported_consensus": "run on a subnet with yuma consensus",
}


def make_fault(code: str, text: str, outcome: Outcome = "not_sent", retry_block: int | None = None) -> ChainFault:
    """`text` may be a node's own words: shortened, and nothing in it that a terminal would act on."""
    retry = retry_block if code == "rate_limited" else None
    wait = "" if retry is None else f"; until block {retry}"
    said = " ".join("".join(sign if sign.isprintable() else " " for sign in text[:MAX_TEXT]).split())
    return ChainFault(code, f"{said}{wait}", REMEDIES.get(code, "see the message"), outcome, retry)


def map_raised(error: Exception, spec_version: int | None, sent: bool = False) -> ChainFault:
    """A fault for what a call raised. After sending nothing raised says what became of it."""
    cause = error.__cause__
    if isinstance(cause, ChainFault):
        return cause
    code, text = _name_raised(cause if isinstance(cause, BROKEN) else error)
    if sent:
        return make_fault("outcome_unknown", text, "unknown")
    if code == "runtime_mismatch":
        text = f"runtime {spec_version} and SDK {sdk_version()} are incompatible: {text}"
    return make_fault(code, text)


def _name_raised(error: Exception) -> tuple[str, str]:
    kind, text = type(error).__name__, str(error) or type(error).__name__
    if kind == "RpcPolicyError":
        retry = getattr(error, "retry_after", None)
        return "endpoint_refused", text + (f"; retry after {retry}" if retry else "")
    if kind in ("RpcConnectionError", "ConnectionNotReady") or isinstance(error, OSError):
        return "unreachable", text
    if kind == "ChainError":
        return _name_chain_error(error, text)
    if isinstance(error, BROKEN):
        return "runtime_mismatch", f"{kind}: {text}"
    return "unknown_chain_error", f"{kind}: {text}"


def _name_chain_error(error: Any, text: str) -> tuple[str, str]:
    """Preflight says why by its code; a request that failed by no name at all is a connection that did."""
    if error.name is not None:
        return NAMES.get(error.name, "unknown_chain_error"), f"{error.name}: {text}"
    code = str(getattr(error.code, "value", error.code))
    if code == "invalid_argument" and "requires at least" in text:
        return "too_few_weights", text
    return PREFLIGHT.get(code, "unreachable"), text


def map_returned(error: Any, proxied: bool = False) -> ChainFault:
    """A fault for a submission that came back without success. Only a name, or the pool's own words, are a refusal;
    anything else leaves open whether it is on chain. A call that is filtered says more if it was a proxy's."""
    text = str(error.message)
    if error.name is None:
        refused = POOL.search(text) is not None
        return make_fault("pool_rejected", text, "rejected") if refused else _leave_open(text)
    told = f"the chain refused: {error.name} ({text})"
    if error.name in UNDECIDED:
        return _leave_open(told)
    names = {**NAMES, **PROXY_CODES} if proxied else NAMES
    return make_fault(names.get(error.name, "unknown_chain_error"), told, "rejected")


def _leave_open(text: str) -> ChainFault:
    return make_fault("outcome_unknown", text, "unknown")
