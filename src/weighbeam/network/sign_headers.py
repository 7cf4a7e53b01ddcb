"""The headers that carry a signature, for requests and for replies."""

import hashlib

from weighbeam.network.keys import Hotkey
from weighbeam.network.signed_text import write_reply, write_request


def sign_request(
    hotkey: Hotkey, method: str, target: str, body: bytes, nonce: str, receiver: str
) -> tuple[dict[str, str], str]:
    """Headers of a request, and the digest its reply will be bound to."""
    payload = write_request(hotkey.scheme, method, target, body, nonce, hotkey.address, receiver)
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
    payload = write_reply(hotkey.scheme, status, digest, body, nonce, hotkey.address, receiver)
    headers = {
        "X-Weighbeam-Reply-Version": "1",
        "X-Weighbeam-Reply-Hotkey": hotkey.address,
        "X-Weighbeam-Reply-Nonce": nonce,
        "X-Weighbeam-Reply-Signature": "0x" + hotkey.sign(payload).hex(),
    }
    if hotkey.scheme != "sr25519":
        headers["X-Weighbeam-Reply-Crypto"] = hotkey.scheme
    return headers
