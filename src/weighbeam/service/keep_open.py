"""Streams that outlast a look at who listens: a token may be revoked, or have its day, while one is open."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

AGAIN_SECONDS = 1.0


async def keep_open(stream: AsyncGenerator[bytes], is_known: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
    """The stream, until whoever listens would be let in no more; looked at before something is told, not more often."""
    looked = time.monotonic()
    async with aclosing(stream):
        async for told in stream:
            if time.monotonic() - looked >= AGAIN_SECONDS:
                looked = time.monotonic()
                if not await is_known():
                    return
            yield told
