"""The pure stages of docs/spec/network.md, as vector files call them."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.network.blame import Lateness
from weighbeam.network.replies import verify_reply
from weighbeam.network.request_auth import SignedRequest, verify_request
from weighbeam.network.signatures import digest_body, encode_epistula, encode_reply, encode_request

Input = Mapping[str, Any]


def sign_stage(given: Input) -> dict[str, Any]:
    body, receiver = _parse_body(given), given.get("receiver")
    scheme, nonce, sender = given.get("scheme", "sr25519"), given.get("nonce"), given.get("sender", "")
    kind = given.get("kind")
    if kind == "request":
        payload = encode_request(scheme, given.get("method"), given.get("target"), body, nonce, sender, receiver)
    elif kind == "reply":
        digest = given.get("request_sha256")
        payload = encode_reply(scheme, given.get("status"), digest, body, nonce, sender, receiver)
    elif kind == "epistula":
        payload = encode_epistula(body, given.get("uuid"), given.get("timestamp_ms"), receiver)
    else:
        raise WeighbeamError("bad_kind")
    return {
        "payload": payload.decode(),
        "payload_sha256": hashlib.sha256(payload).hexdigest(),
        "body_sha256": digest_body(body),
    }


def verify_stage(given: Input) -> dict[str, Any]:
    seen = {(sender, nonce) for sender, nonce in given.get("seen", [])}
    request = SignedRequest(given["method"], given["target"], _parse_headers(given), _parse_body(given))
    limits = {name: given[name] for name in ("allowed_schemes", "max_body", "max_age", "skew") if name in given}
    caller = verify_request(
        request, given["self"], int(given["now"]), lambda sender, nonce: (sender, nonce) not in seen, **limits
    )
    return {"sender": caller.sender, "nonce": caller.nonce, "scheme": caller.scheme}


def reply_stage(given: Input) -> dict[str, Any]:
    scheme = verify_reply(
        _parse_headers(given),
        given["status"],
        _parse_body(given),
        given["request_sha256"],
        int(given["request_nonce"]),
        given["asked"],
        given["self"],
        int(given["now"]),
        given.get("allowed_schemes", ("sr25519",)),
    )
    return {"sender": given["asked"], "scheme": scheme}


def late_stage(given: Input) -> dict[str, Any]:
    probe = given.get("probe")
    seconds = [given["deadline"], given["lag"], given["stalled"], *([] if probe is None else [probe])]
    counts = given["late"], given["reached"]
    sound = all(is_number(one, 0) for one in seconds) and all(type(one) is int for one in counts)
    require(sound and given["deadline"] > 0 and 0 <= counts[0] <= counts[1], "bad_lateness", "no lateness", "see § 3")
    lateness = Lateness(given["deadline"], given["lag"], given["stalled"], probe, given["reached"], given["late"])
    return {"void": lateness.is_ours, "max_lag": lateness.max_lag, "max_stalled": lateness.max_stalled}


def _parse_body(given: Input) -> bytes:
    return bytes.fromhex(given["body_hex"]) if "body_hex" in given else given["body"].encode()


def _parse_headers(given: Input) -> list[tuple[str, str]]:
    return [(name, value) for name, value in given["headers"]]


STAGES: Mapping[str, Callable[[Input], dict[str, Any]]] = {
    "network.sign": sign_stage,
    "network.verify": verify_stage,
    "network.reply": reply_stage,
    "network.late": late_stage,
}
