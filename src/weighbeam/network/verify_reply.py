"""Is this reply from the miner we asked, to this very request? (spec § 2)"""

from collections.abc import Collection

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.keys import is_signed
from weighbeam.network.signed_text import write_reply
from weighbeam.network.verify_request import NANOSECONDS, Headers, check_form, collect_headers

NAMES = tuple(f"x-weighbeam-reply-{name}" for name in ("version", "hotkey", "nonce", "signature", "crypto"))
SKEW = 2 * NANOSECONDS


def verify_reply(
    headers: Headers,
    status: int,
    body: bytes,
    request_sha256: str,
    request_nonce: int,
    asked: str,
    own_address: str,
    now: int,
    allowed_schemes: Collection[str] = ("sr25519",),
) -> str:
    """The scheme it was signed with, or a refusal by code."""
    require(any(name.lower() in NAMES for name, _ in headers), "unsigned_reply")
    fields = collect_headers(headers, NAMES, "malformed_reply")
    version, sender, nonce, signature = (fields[name] for name in NAMES[:4])
    require(version == "1", "malformed_reply")
    if sender is None or nonce is None or signature is None:
        raise WeighbeamError("malformed_reply")
    scheme = check_form(fields[NAMES[4]], nonce, signature, sender, "malformed_reply")
    require(sender == asked, "wrong_sender")
    require(scheme in allowed_schemes, "scheme_not_allowed")
    require(request_nonce - SKEW <= int(nonce) <= now + SKEW, "stale_reply")
    payload = write_reply(scheme, status, request_sha256, body, nonce, sender, own_address)
    require(is_signed(payload, bytes.fromhex(signature[2:]), sender, scheme), "bad_reply_signature")
    return scheme
