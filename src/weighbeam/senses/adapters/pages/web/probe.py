"""Whether our own network works: a page is blamed only while known addresses answer (spec/evidence § 9)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

KNOWN_URLS = ("https://www.iana.org/robots.txt", "https://www.wikipedia.org/robots.txt")
KEPT_SECONDS = 5.0


class NetworkProbe:
    """Whether any known URL gives an answer, whatever it says. What is found holds for a moment."""

    def __init__(self, answers: Callable[[str], Awaitable[bool]], urls: Sequence[str] = KNOWN_URLS) -> None:
        self._answers, self._urls = answers, tuple(urls)
        self._lock = asyncio.Lock()
        self._found: tuple[float, bool] | None = None

    async def works(self) -> bool:
        """Asked after a failure, so an older success proves little: it is kept for seconds only."""
        if not self._urls:
            return True
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._found is None or now - self._found[0] > KEPT_SECONDS:
                self._found = (asyncio.get_running_loop().time(), await self._try())
            return self._found[1]

    async def _try(self) -> bool:
        attempts = [asyncio.ensure_future(self._answers(url)) for url in self._urls]
        try:
            for attempt in asyncio.as_completed(attempts):
                if await attempt:
                    return True
            return False
        finally:
            for attempt in attempts:
                attempt.cancel()
            await asyncio.gather(*attempts, return_exceptions=True)
