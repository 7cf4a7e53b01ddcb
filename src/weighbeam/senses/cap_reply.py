"""An HTTP client that gives up on a reply that is too large, whatever its status, and follows no redirect."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2


class TooLarge(Exception):
    """A reply beyond the cap, or packed so that its size cannot be known."""


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, most: int) -> None:
        self._inner, self._left = inner, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise TooLarge
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def capped_client(most_bytes: int, seconds: float) -> httpx2.AsyncClient:
    """A client whose every reply ends in `TooLarge` after `most_bytes`."""

    async def cap(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLarge
        response.stream = _Capped(response.stream, most_bytes)

    return httpx2.AsyncClient(
        timeout=seconds,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [cap]},
    )
