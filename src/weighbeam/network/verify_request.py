"""Is this request from who it says, for us, now, and for the first time? (spec § 1, steps 1 to 8)

Everything is given: the clock is `now`, the memory of nonces is `is_new`. The first check that fails names the refusal.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.keys import is_address, is_signed
from weighbeam.network.signed_text import NONCE, SCHEMES, write_request

Headers = Sequence[tuple[str, str]]
SIGNATURE = re.compile(r"0x[0-9a-f]{128}", re.ASCII)
NANOSECONDS = 1_000_000_000
NAMES = tuple(f"x-bittensor-{name}" for name in ("version", "hotkey", "receiver", "nonce", "signature", "crypto"))


@dataclass(frozen=True, slots=True)
class Request:
    """A request as received: nothing in it is parsed or changed."""

    method: str
    target: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asked, proven; `payload` is the text that was signed."""

    sender: str
    nonce: str
    scheme: str
    payload: bytes


def verify_request(
    request: Request,
    own_address: str,
    now: int,
    is_new: Callable[[str, str], bool],
    allowed_schemes: Collection[str] = ("sr25519",),
    max_body: int = 1_048_576,
    max_age: float = 10,
    skew: float = 2,
) -> Caller:
    """The caller, or a refusal by code. `is_new` is asked (and may remember) only after the signature holds."""
    require(len(request.body) <= max_body, "too_large")
    fields = collect_headers(request.headers, NAMES, "malformed_auth")
    version, sender, nonce, signature = (fields[NAMES[i]] for i in (0, 1, 3, 4))
    require(version == "1", "malformed_auth")
    if sender is None or nonce is None or signature is None:
        raise WeighbeamError("malformed_auth")
    scheme = check_form(fields[NAMES[5]], nonce, signature, sender, "malformed_auth")
    require(scheme in allowed_schemes, "scheme_not_allowed")
    require(fields[NAMES[2]] == own_address, "wrong_receiver")
    age = now - int(nonce)
    require(-skew * NANOSECONDS <= age <= max_age * NANOSECONDS, "stale")
    try:
        payload = write_request(scheme, request.method, request.target, request.body, nonce, sender, own_address)
    except WeighbeamError:
        raise WeighbeamError("bad_signature", "no signature can cover this method and target") from None
    require(is_signed(payload, bytes.fromhex(signature[2:]), sender, scheme), "bad_signature")
    require(is_new(sender, nonce), "replayed")
    return Caller(sender, nonce, scheme, payload)


def collect_headers(headers: Headers, names: Sequence[str], code: str) -> dict[str, str | None]:
    """The value of each named header, None where absent; one that comes twice is refused with `code`."""
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
