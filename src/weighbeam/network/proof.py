"""Proof of a reply: what must be kept so that anybody can check later who said it, to whom and to which request."""

from collections.abc import Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import is_address, is_signed
from weighbeam.network.signed_text import digest_body, write_reply_of
from weighbeam.network.verify_request import SIGNATURE, Headers

PARTS = ("request", "body", "nonce", "signature", "scheme")


def keep_proof(headers: Headers, body: bytes, request_sha256: str, scheme: str) -> dict[str, str]:
    """The proof in a reply that was verified."""
    given = {name.lower(): value for name, value in headers}
    return {
        "request": request_sha256,
        "body": digest_body(body),
        "nonce": given["x-weighbeam-reply-nonce"],
        "signature": given["x-weighbeam-reply-signature"],
        "scheme": scheme,
    }


def verify_proof(proof: Mapping[str, str], hotkey: str, asker: str, status: int = 200) -> bool:
    """Whether `hotkey` signed that reply to `asker`; anything else, however malformed, is False."""
    if not all(isinstance(proof.get(part), str) for part in PARTS) or not is_address(hotkey):
        return False
    request, body, nonce, signature, scheme = (proof[part] for part in PARTS)
    if SIGNATURE.fullmatch(signature) is None:
        return False
    try:
        text = write_reply_of(scheme, status, request, body, nonce, hotkey, asker)
    except WeighbeamError:
        return False
    return is_signed(text, bytes.fromhex(signature[2:]), hotkey, scheme)
