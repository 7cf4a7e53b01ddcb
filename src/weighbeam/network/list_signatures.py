"""The signature of a list file: by one key that an operator trusts, over everything else the file says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import CRYPTO, Hotkey, is_address, is_signed

FIELD = "signature"
DOMAIN = b"weighbeam-list/1\n"
REMEDY = "sign it with weighbeam evidence lists sign, or correct validator.lists_key"


@dataclass(frozen=True, slots=True)
class ListKey:
    """Key whose signature is accepted."""

    address: str
    scheme: str = "sr25519"


def parse_list_key(text: str) -> ListKey:
    """`ADDRESS`, or `SCHEME:ADDRESS` for a key that is not sr25519.

    >>> parse_list_key("ed25519:5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY").scheme
    'ed25519'
    """
    scheme, colon, address = text.rpartition(":")
    key = ListKey(address, scheme if colon else "sr25519")
    if key.scheme not in CRYPTO or not is_address(key.address):
        raise WeighbeamError(
            "bad_list_key", f"{text!r:.100} is not a valid key", "write ss58 ADDRESS or ed25519:ADDRESS"
        )
    return key


def sign_list(content: Mapping[str, Any], hotkey: Hotkey) -> dict[str, Any]:
    """The content with the key's signature in place of any other."""
    value = hotkey.sign(_encode_message(content)).hex()
    return {**content, FIELD: {"scheme": hotkey.scheme, "by": hotkey.address, "value": value}}


def find_signer(content: Mapping[str, Any]) -> ListKey | None:
    """Return the signer of a list, None if unsigned; an invalid signature raises `unsigned_list`."""
    given = content.get(FIELD)
    if given is None:
        return None
    try:
        key, value = ListKey(str(given["by"]), str(given["scheme"])), bytes.fromhex(given["value"])
    except (KeyError, TypeError, ValueError):
        raise WeighbeamError("unsigned_list", "its signature is not {scheme, by, value}", REMEDY) from None
    if key.scheme not in CRYPTO or not is_signed(_encode_message(content), value, key.address, key.scheme):
        raise WeighbeamError("unsigned_list", f"its signature by {key.address:.60} is not valid", REMEDY)
    return key


def require_signature(content: Mapping[str, Any], key: ListKey) -> None:
    """`unsigned_list` unless exactly this key signed it."""
    signer = find_signer(content)
    if signer is None:
        raise WeighbeamError("unsigned_list", f"it is not signed, and must be by {key.address}", REMEDY)
    if signer != key:
        told = f"it is signed by {signer.scheme} {signer.address}, not by {key.scheme} {key.address}"
        raise WeighbeamError("unsigned_list", told, REMEDY)


def _encode_message(content: Mapping[str, Any]) -> bytes:
    """Everything but the signature. What no canonical JSON can say cannot be signed."""
    try:
        return DOMAIN + canonical_json({name: value for name, value in content.items() if name != FIELD})
    except (ValueError, RecursionError):
        raise WeighbeamError("unsigned_list", "it holds what cannot be signed, such as NaN", REMEDY) from None
