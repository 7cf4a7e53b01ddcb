"""The exact texts that are signed, and the headers that carry a signature."""

import hashlib
import re
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer
from weighbeam.network.keys import Hotkey

SCHEMES = ("sr25519", "ed25519")
NONCE = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
TARGET = re.compile(r"/[!\"$-~]*", re.ASCII)
METHOD = re.compile(r"[A-Za-z]+", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
UNBOUND = "-"


def digest_body(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def encode_request(
    scheme: Any, method: Any, target: Any, body: bytes, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The canonical string of a request: `btauth/1`."""
    _check(scheme in SCHEMES, "bad_scheme")
    _check(_matches(METHOD, method), "bad_method")
    _check(_matches(TARGET, target), "bad_target")
    _check(_matches(NONCE, nonce), "bad_nonce")
    lines = ("btauth/1", scheme, method.upper(), target, digest_body(body), nonce, sender, receiver or UNBOUND)
    return "\n".join(lines).encode()


def encode_reply(
    scheme: Any, status: Any, request_sha256: Any, body: bytes, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The canonical string of a reply, bound to the request it answers: `btauth-reply/1`."""
    return encode_reply_digest(scheme, status, request_sha256, digest_body(body), nonce, sender, receiver)


def encode_reply_digest(
    scheme: Any, status: Any, request_sha256: Any, body_sha256: Any, nonce: Any, sender: str, receiver: str | None
) -> bytes:
    """The canonical string of a reply whose body is known by its digest."""
    _check(scheme in SCHEMES, "bad_scheme")
    _check(is_integer(status, 100) and status <= 599, "bad_status")
    _check(_matches(DIGEST, request_sha256) and _matches(DIGEST, body_sha256), "bad_digest")
    _check(_matches(NONCE, nonce), "bad_nonce")
    if receiver is None:
        raise WeighbeamError("bad_receiver")
    lines = ("btauth-reply/1", scheme, str(status), request_sha256, body_sha256, nonce, sender, receiver)
    return "\n".join(lines).encode()


def encode_epistula(body: bytes, uuid: Any, timestamp_ms: Any, receiver: str | None) -> bytes:
    """Message that existing miners sign: body, id, time and addressee, but neither method nor path."""
    _check(_matches(NONCE, timestamp_ms), "bad_nonce")
    return f"{digest_body(body)}.{uuid}.{timestamp_ms}.{receiver or ''}".encode()


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _check(holds: bool, code: str) -> None:
    require(holds, code)


def sign_request(
    hotkey: Hotkey, method: str, target: str, body: bytes, nonce: str, receiver: str
) -> tuple[dict[str, str], str]:
    """Headers of a request, and the digest its reply will be bound to."""
    payload = encode_request(hotkey.scheme, method, target, body, nonce, hotkey.address, receiver)
    headers = {
        "X-Bittensor-Version": "1",
        "X-Bittensor-Hotkey": hotkey.address,
        "X-Bittensor-Receiver": receiver,
        "X-Bittensor-Nonce": nonce,
        "X-Bittensor-Signature": "0x" + hotkey.sign(payload).hex(),
    }
    if hotkey.scheme != "sr25519":
        headers["X-Bittensor-Crypto"] = hotkey.scheme
    return headers, hashlib.sha256(payload).hexdigest()


def sign_reply(
    hotkey: Hotkey, status: int, body: bytes, request_payload: bytes, nonce: str, receiver: str
) -> dict[str, str]:
    """Headers of a reply to the request whose signed text was `request_payload`."""
    digest = hashlib.sha256(request_payload).hexdigest()
    payload = encode_reply(hotkey.scheme, status, digest, body, nonce, hotkey.address, receiver)
    headers = {
        "X-Weighbeam-Reply-Version": "1",
        "X-Weighbeam-Reply-Hotkey": hotkey.address,
        "X-Weighbeam-Reply-Nonce": nonce,
        "X-Weighbeam-Reply-Signature": "0x" + hotkey.sign(payload).hex(),
    }
    if hotkey.scheme != "sr25519":
        headers["X-Weighbeam-Reply-Crypto"] = hotkey.scheme
    return headers
