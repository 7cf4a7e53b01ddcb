"""HTTP client of a desk: sign and send a contribution, verify the receipt."""

import json
import re
import time
from typing import Any
from urllib.parse import urlsplit

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer
from weighbeam.network.http_call import call_http
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import check_receipt
from weighbeam.network.signing_dialects import Btauth, OutgoingRequest

ROUTE = "/v1/novelty/contributions"
TAKEN = (200, 201)
STATUSES = ("paid", "held", "duplicate")
CODE = re.compile(r"[a-z_]{1,40}")


def send_contribution(url: str, node: str, hotkey: Hotkey, text: str, key: str | None = None) -> dict[str, Any]:
    """The receipt of a contribution to the desk at `url`, which `node` runs; refused as that desk refuses it.

    A receipt that another signed, or that is about another text or contributor, is `bad_receipt`.
    """
    content = {"text": text} if key is None else {"text": text, "key": key}
    target = urlsplit(url).path.rstrip("/") + ROUTE
    body = json.dumps(content).encode()
    signed = Btauth().sign(hotkey, OutgoingRequest("POST", target, body, str(time.time_ns()), node))
    reply = call_http("POST", url.rstrip("/") + ROUTE, content, signed.headers)
    said = _parse_body(reply.body)
    if reply.status not in TAKEN:
        named = said.get("error")
        code = named if isinstance(named, str) and CODE.fullmatch(named) else "call_failed"
        message = str(said.get("message", f"HTTP {reply.status}"))
        raise WeighbeamError(code, message, str(said.get("remedy", "ask the node's operator")))
    check_receipt(said, node)
    whole = is_integer(said.get("id"), 1) and is_integer(said.get("units"), 0) and said.get("status") in STATUSES
    ours = whole and (said.get("contributor"), said.get("text_sha256")) == (hotkey.address, digest_text(text))
    require(ours, "bad_receipt", "the node sent a receipt for something else", "ask the node's operator")
    return said


def _parse_body(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    return said if isinstance(said, dict) else {}
