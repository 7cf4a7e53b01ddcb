"""Receipts: outcomes of contributions and answers, signed by the deciding node, so that anyone can check them."""

from collections.abc import Mapping
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey, is_signed

SIGNED = b"weighbeam receipt 1\n"
FORMAT = 1


def sign_receipt(body: Mapping[str, Any], key: Hotkey) -> dict[str, Any]:
    """Add the node's address and its signature over everything to the body."""
    named = {"format": FORMAT, **body, "node": key.address, "scheme": key.scheme}
    return {**named, "signature": key.sign(SIGNED + canonical_json(named)).hex()}


def check_receipt(receipt: Any, node: str | None = None) -> str:
    """Return the signer of a receipt; `bad_receipt` if it is unsigned or not signed by `node`."""
    try:
        body = {name: value for name, value in receipt.items() if name != "signature"}
        signature = bytes.fromhex(receipt["signature"])
        signer, scheme = str(body["node"]), str(body["scheme"])
        spelt = body["format"] == FORMAT and signature.hex() == receipt["signature"]
        valid = spelt and is_signed(SIGNED + canonical_json(body), signature, signer, scheme)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        valid, signer = False, ""
    if not valid:
        raise WeighbeamError(
            "bad_receipt", "this receipt differs from what its node signed", "ask the node for it again"
        )
    if node is not None and signer != node:
        raise WeighbeamError("bad_receipt", f"this receipt is signed by {signer}", f"expected {node}")
    return signer


def verify_receipts(found: Mapping[str, Any], node: str | None) -> str:
    """Return the signer of a receipt and its settlement; `bad_receipt` if one is altered or they do not match."""
    if "receipt" not in found:
        return check_receipt(found, node)
    signer = check_receipt(found["receipt"], node)
    settlement = found.get("settlement")
    if settlement is not None:
        check_receipt(settlement, node)
        same = ("id", "contributor", "text_sha256", "units")
        if any(settlement.get(name) != found["receipt"].get(name) for name in same):
            raise WeighbeamError(
                "bad_receipt", "receipt and settlement belong to different contributions", "check each alone"
            )
    return signer
