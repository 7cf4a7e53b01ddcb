"""The exact texts that are signed: requests, replies, and the dialect of older miners."""

import hashlib
import re
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer

SCHEMES = ("sr25519", "ed25519")
NONCE = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
TARGET = re.compile(r"/[!\"$-~]*", re.ASCII)
METHOD = re.compile(r"[A-Za-z]+", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
UNBOUND = "-"


def digest_body(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def write_request(
    scheme: Any, method: Any, target: Any, body: bytes, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The canonical string of a request: `btauth/1`."""
    _check(scheme in SCHEMES, "bad_scheme")
    _check(_matches(METHOD, method), "bad_method")
    _check(_matches(TARGET, target), "bad_target")
    _check(_matches(NONCE, nonce), "bad_nonce")
    lines = ("btauth/1", scheme, method.upper(), target, digest_body(body), nonce, sender, receiver or UNBOUND)
    return "\n".join(lines).encode()


def write_reply(
    scheme: Any, status: Any, request_sha256: Any, body: bytes, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The canonical string of a reply, bound to the request it answers: `btauth-reply/1`."""
    return write_reply_of(scheme, status, request_sha256, digest_body(body), nonce, sender, receiver)


def write_reply_of(
    scheme: Any, status: Any, request_sha256: Any, body_sha256: Any, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The same, of a body that is known by its digest."""
    _check(scheme in SCHEMES, "bad_scheme")
    _check(is_integer(status, 100) and status <= 599, "bad_status")
    _check(_matches(DIGEST, request_sha256) and _matches(DIGEST, body_sha256), "bad_digest")
    _check(_matches(NONCE, nonce), "bad_nonce")
    if receiver is None:
        raise WeighbeamError("bad_receiver")
    lines = ("btauth-reply/1", scheme, str(status), request_sha256, body_sha256, nonce, sender, receiver)
    return "\n".join(lines).encode()


def write_epistula(body: bytes, uuid: Any, timestamp_ms: Any, receiver: str | None) -> bytes:
    """What existing miners sign: body, id, time and addressee, but neither method nor path."""
    _check(_matches(NONCE, timestamp_ms), "bad_nonce")
    return f"{digest_body(body)}.{uuid}.{timestamp_ms}.{receiver or ''}".encode()


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _check(holds: bool, code: str) -> None:
    require(holds, code)
