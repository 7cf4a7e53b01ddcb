"""What a reply is worth, by what it says and what it is wrapped in (the table of spec § 3)."""

from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Reply as Status
from weighbeam.network.strict_json import read_strict
from weighbeam.network.verify_request import Headers

MAX_HEADERS = 16 << 10


def judge_envelope(status: int, headers: Headers, body: bytes) -> tuple[Status, str | None] | None:
    """The verdict on a reply that need not be verified, None if it must be."""
    named = {name.lower(): value for name, value in headers}
    if named.get("content-encoding", "identity") != "identity":
        return "malformed", "encoded"
    if sum(len(name) + len(value) for name, value in headers) > MAX_HEADERS:
        return "malformed", "headers"
    return None if status == 200 else _judge_refusal(status, body)


def judge_content(body: bytes, round_id: str) -> tuple[Status, str | None, Any]:
    """The verdict on a reply whose sender is known, and its payload."""
    try:
        value = read_strict(body)
    except WeighbeamError:
        return "malformed", "json", None
    if not isinstance(value, dict) or "payload" not in value or value.get("round") != round_id:
        return "malformed", "shape", None
    return "ok", None, value["payload"]


def _judge_refusal(status: int, reply: bytes) -> tuple[Status, str | None]:
    """What a refusal means; nothing in it is trusted beyond its status and a known code."""
    known = {429: "rate_limited", 503: "busy"}
    if status in known:
        return "error", known[status]
    if status == 401:
        code = _read_code(reply)
        if code == "wrong_receiver":
            return "unreachable", "wrong_receiver"
        return "error", code if code == "stale" else "401"
    return "error", str(status)


def _read_code(reply: bytes) -> str | None:
    try:
        value = read_strict(reply[:1024])
    except WeighbeamError:
        return None
    code = value.get("error") if isinstance(value, dict) else None
    return code if isinstance(code, str) else None
