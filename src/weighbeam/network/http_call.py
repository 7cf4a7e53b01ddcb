"""One HTTP call to an address the operator set: bounded in time and bytes, no redirects, no cookies."""

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from weighbeam.core.errors import WeighbeamError

CALL_SECONDS = 20.0
MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    body: bytes


def call_http(
    method: str,
    url: str,
    content: Any = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = CALL_SECONDS,
    limit: int = MAX_BYTES,
) -> HttpReply:
    """Return the reply of any status; `call_failed` if it is missing, too slow or too large.

    The time is for all of it, look-up of the name and every trickled byte included: whatever hangs is left behind in a
    thread that holds up no end of the process.
    """
    found: list[HttpReply | WeighbeamError] = []

    def work() -> None:
        try:
            found.append(asyncio.run(_call_http(method, url, content, headers or {}, seconds, limit)))
        except WeighbeamError as fault:
            found.append(fault)
        except Exception as fault:
            found.append(_make_call_error(f"{type(fault).__name__}: {fault}"))

    thread = threading.Thread(target=work, name="call", daemon=True)
    thread.start()
    thread.join(seconds + 1)
    outcome = found[0] if found else _make_call_error(f"it took more than {seconds:g} s")
    if isinstance(outcome, WeighbeamError):
        raise outcome
    return outcome


async def _call_http(
    method: str, url: str, content: Any, headers: Mapping[str, str], seconds: float, limit: int
) -> HttpReply:
    body = None if content is None else json.dumps(content).encode()
    named = {**headers, **({} if body is None else {"Content-Type": "application/json"})}
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(timeout=seconds, follow_redirects=False) as client,
            client.stream(method, url, content=body, headers=named) as response,
        ):
            parts, size = [], 0
            async for part in response.aiter_raw():
                size += len(part)
                if size > limit:
                    raise _make_call_error(f"it sent more than {limit} bytes")
                parts.append(part)
            return HttpReply(response.status_code, b"".join(parts))
    except TimeoutError:
        raise _make_call_error(f"it took more than {seconds:g} s") from None


def redact_url(url: str) -> str:
    """Format an address for logs, without its query.

    >>> redact_url("https://api.example/results?key=secret")
    'https://api.example/results'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _make_call_error(why: str) -> WeighbeamError:
    return WeighbeamError("call_failed", why, "check the address and the server behind it")
