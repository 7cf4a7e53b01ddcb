"""Replies of miners: verification, verdict, and the proof that is kept (spec § 2 and § 3)."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.mechanism.records import Reply as Status
from weighbeam.network.keys import is_address, is_signed
from weighbeam.network.request_auth import NANOSECONDS, SIGNATURE, Headers, check_form, collect_headers
from weighbeam.network.signatures import digest_body, encode_reply, encode_reply_digest
from weighbeam.network.strict_json import MAX_NODES, parse_strict

REPLY_HEADERS = tuple(f"x-weighbeam-reply-{name}" for name in ("version", "hotkey", "nonce", "signature", "crypto"))
REPLY_SKEW = 2 * NANOSECONDS


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
    require(any(name.lower() in REPLY_HEADERS for name, _ in headers), "unsigned_reply")
    fields = collect_headers(headers, REPLY_HEADERS, "malformed_reply")
    version, sender, nonce, signature = (fields[name] for name in REPLY_HEADERS[:4])
    require(version == "1", "malformed_reply")
    if sender is None or nonce is None or signature is None:
        raise WeighbeamError("malformed_reply")
    scheme = check_form(fields[REPLY_HEADERS[4]], nonce, signature, sender, "malformed_reply")
    require(sender == asked, "wrong_sender")
    require(scheme in allowed_schemes, "scheme_not_allowed")
    require(request_nonce - REPLY_SKEW <= int(nonce) <= now + REPLY_SKEW, "stale_reply")
    payload = encode_reply(scheme, status, request_sha256, body, nonce, sender, own_address)
    require(is_signed(payload, bytes.fromhex(signature[2:]), sender, scheme), "bad_reply_signature")
    return scheme


MAX_HEADERS = 16 << 10


def judge_envelope(status: int, headers: Headers, body: bytes) -> tuple[Status, str | None] | None:
    """The verdict on a reply that need not be verified, None if it must be."""
    named = {name.lower(): value for name, value in headers}
    if named.get("content-encoding", "identity") != "identity":
        return "malformed", "encoded"
    if sum(len(name) + len(value) for name, value in headers) > MAX_HEADERS:
        return "malformed", "headers"
    return None if status == 200 else _judge_refusal(status, body)


def judge_content(body: bytes, round_id: str, max_nodes: int = MAX_NODES) -> tuple[Status, str | None, Any]:
    """The verdict on a reply whose sender is known, and its payload."""
    try:
        value = parse_strict(body, max_nodes=max_nodes)
    except WeighbeamError as refusal:
        return ("too_large", "nodes", None) if refusal.code == "too_large" else ("malformed", "json", None)
    if not isinstance(value, dict) or "payload" not in value or value.get("round") != round_id:
        return "malformed", "shape", None
    return "ok", None, value["payload"]


def _judge_refusal(status: int, reply: bytes) -> tuple[Status, str | None]:
    """Classify a refusal; only its status and a known code are trusted."""
    known = {429: "rate_limited", 503: "busy"}
    if status in known:
        return "error", known[status]
    if status == 401:
        code = _parse_code(reply)
        if code == "wrong_receiver":
            return "unreachable", "wrong_receiver"
        return "error", code if code == "stale" else "401"
    return "error", str(status)


def _parse_code(reply: bytes) -> str | None:
    try:
        value = parse_strict(reply[:1024])
    except WeighbeamError:
        return None
    code = value.get("error") if isinstance(value, dict) else None
    return code if isinstance(code, str) else None


PROOF_PARTS = ("request", "body", "nonce", "signature", "scheme")
SORTED, RAW = "sorted", "raw"


def encode_reply_body(content: Any) -> bytes:
    """A reply as Weighbeam's miners write it: a journal that holds its payload can write it again.

    >>> encode_reply_body({"round": "r1", "payload": {"b": 1, "a": "é"}})
    b'{"payload":{"a":"\\\\u00e9","b":1},"round":"r1"}'
    """
    try:
        return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    except TypeError:
        return json.dumps(content, separators=(",", ":")).encode()


def bind_body(proof: Mapping[str, str], body: bytes, round_id: str, payload: Any) -> dict[str, str]:
    """The proof with what else it takes to write the signed body again: nothing, or the body itself."""
    if encode_reply_body({"round": round_id, "payload": payload}) == body:
        return {**proof, "form": SORTED}
    return {**proof, "form": RAW, "raw": body.decode("utf-8")}


def drop_body(proof: Mapping[str, str]) -> dict[str, str]:
    """The proof of a reply that is not kept whole: the signature still says that the miner sent it."""
    return {name: value for name, value in proof.items() if name not in ("form", "raw")}


def find_body_fault(proof: Mapping[str, str], round_id: str, payload: Any) -> str | None:
    """Whether the body that was signed says what is recorded; older proofs and trimmed answers do not tell."""
    form = proof.get("form")
    if form == SORTED:
        same = digest_body(encode_reply_body({"round": round_id, "payload": payload})) == proof["body"]
        return None if same else "it is not what the miner signed"
    if form != RAW:
        return None
    body = proof["raw"].encode("utf-8")
    if digest_body(body) != proof["body"]:
        return "the reply that is kept is not the one the miner signed"
    status, _, said = judge_content(body, round_id)
    return None if status == "ok" and said == payload else "it is not what the miner signed"


def make_proof(headers: Headers, body: bytes, request_sha256: str, scheme: str) -> dict[str, str]:
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
    if not all(isinstance(proof.get(part), str) for part in PROOF_PARTS) or not is_address(hotkey):
        return False
    request, body, nonce, signature, scheme = (proof[part] for part in PROOF_PARTS)
    if SIGNATURE.fullmatch(signature) is None:
        return False
    try:
        text = encode_reply_digest(scheme, status, request, body, nonce, hotkey, asker)
    except WeighbeamError:
        return False
    return is_signed(text, bytes.fromhex(signature[2:]), hotkey, scheme)
