"""Verify that a request is from its sender, for us, recent and new (spec § 1, steps 1 to 8); clock and nonce memory
are arguments.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.keys import is_address, is_signed
from weighbeam.network.signatures import NONCE, SCHEMES, encode_request

Headers = Sequence[tuple[str, str]]
SIGNATURE = re.compile(r"0x[0-9a-f]{128}", re.ASCII)
NANOSECONDS = 1_000_000_000
REQUEST_HEADERS = tuple(
    f"x-bittensor-{name}" for name in ("version", "hotkey", "receiver", "nonce", "signature", "crypto")
)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as received: nothing in it is parsed or changed."""

    method: str
    target: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class VerifiedSender:
    """The authenticated sender; `payload` is the signed text."""

    sender: str
    nonce: str
    scheme: str
    payload: bytes


def verify_request(
    request: SignedRequest,
    own_address: str,
    now: int,
    is_new: Callable[[str, str], bool],
    allowed_schemes: Collection[str] = ("sr25519",),
    max_body: int = 1_048_576,
    max_age: float = 10,
    skew: float = 2,
) -> VerifiedSender:
    """The caller, or a refusal by code. `is_new` is asked (and may remember) only after the signature holds."""
    require(len(request.body) <= max_body, "too_large")
    fields = collect_headers(request.headers, REQUEST_HEADERS, "malformed_auth")
    version, sender, nonce, signature = (fields[REQUEST_HEADERS[i]] for i in (0, 1, 3, 4))
    require(version == "1", "malformed_auth")
    if sender is None or nonce is None or signature is None:
        raise WeighbeamError("malformed_auth")
    scheme = check_form(fields[REQUEST_HEADERS[5]], nonce, signature, sender, "malformed_auth")
    require(scheme in allowed_schemes, "scheme_not_allowed")
    require(fields[REQUEST_HEADERS[2]] == own_address, "wrong_receiver")
    age = now - int(nonce)
    require(-skew * NANOSECONDS <= age <= max_age * NANOSECONDS, "stale")
    try:
        payload = encode_request(scheme, request.method, request.target, request.body, nonce, sender, own_address)
    except WeighbeamError:
        raise WeighbeamError("bad_signature", "no signature can cover this method and target") from None
    require(is_signed(payload, bytes.fromhex(signature[2:]), sender, scheme), "bad_signature")
    require(is_new(sender, nonce), "replayed")
    return VerifiedSender(sender, nonce, scheme, payload)


def collect_headers(headers: Headers, names: Sequence[str], code: str) -> dict[str, str | None]:
    """The value of each named header, None where absent; one that occurs twice is refused with `code`."""
    found: dict[str, str | None] = dict.fromkeys(names)
    for name, value in headers:
        lowered = name.lower()
        if lowered in found:
            require(found[lowered] is None, code)
            found[lowered] = value
    return found


def check_form(crypto: str | None, nonce: str, signature: str, sender: str, code: str) -> str:
    """The declared scheme, if every part is well formed."""
    scheme = "sr25519" if crypto is None else crypto
    well_formed = (
        NONCE.fullmatch(nonce) is not None
        and scheme in SCHEMES
        and SIGNATURE.fullmatch(signature) is not None
        and is_address(sender)
    )
    require(well_formed, code)
    return scheme
