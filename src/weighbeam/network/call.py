"""One HTTP call to an address the operator set: bounded in time and bytes, no redirects, no cookies."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from weighbeam.core.errors import WeighbeamError

CALL_SECONDS = 20.0
MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Called:
    status: int
    body: bytes


def call(
    method: str,
    url: str,
    content: Any = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = CALL_SECONDS,
    most: int = MAX_BYTES,
) -> Called:
    """The reply, whatever its status; `call_failed` if there is none, or it is too slow or too large."""
    end = time.monotonic() + seconds
    body = None if content is None else json.dumps(content).encode()
    named = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
    try:
        with httpx2.stream(
            method, url, content=body, headers=named, timeout=seconds, follow_redirects=False
        ) as response:
            parts, size = [], 0
            for part in response.iter_raw():
                size += len(part)
                if time.monotonic() > end:
                    raise _failed(f"it took more than {seconds:g} s")
                if size > most:
                    raise _failed(f"it sent more than {most} bytes")
                parts.append(part)
            return Called(response.status_code, b"".join(parts))
    except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
        raise _failed(f"{type(fault).__name__}: {fault}") from None


def _failed(why: str) -> WeighbeamError:
    return WeighbeamError("call_failed", why, "check the address and whoever serves it")
