"""Follow a URL to its content: every hop guarded, redirects by hand, within one time budget."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from weighbeam import __version__
from weighbeam.senses.adapters.pages.limits import TEXT, PageLimits
from weighbeam.senses.adapters.pages.outcome import PageUnreachable, ReadEnded, judge_answer
from weighbeam.senses.adapters.pages.web.content_encoding import ACCEPTED, decode_body
from weighbeam.senses.adapters.pages.web.exchange import HttpExchange, HttpHead
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard
from weighbeam.senses.adapters.pages.web.turns import ReadTurns, last_two_labels
from weighbeam.senses.adapters.pages.web.url import PageUrl, join_page_url, parse_page_url
from weighbeam.senses.ports.page import Hop, PageOutcome


class TimeBudget:
    """Seconds that are left of `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._given = self.left = seconds

    @property
    def spent(self) -> float:
        return self._given - self.left

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Charge the time of the block; `PageUnreachable` when none is left."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self.left):
                yield
        except TimeoutError:
            raise PageUnreachable("timeout") from None
        finally:
            self.left -= clock() - began


USER_AGENT = f"weighbeam/{__version__}"
REDIRECTS = (301, 302, 303, 307, 308)
MAX_SHOWN = 4_096


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """Requested content; kinds of None allow all. `origin` is set where a server has to allow it."""

    kinds: frozenset[str] | None = TEXT
    accept: str = "text/html, application/xhtml+xml, text/plain;q=0.8"
    origin: str = ""


PAGE_REQUEST = ContentRequest()


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where a URL led. `body` is decoded, and empty unless the outcome is `read`; `fault` is a word for what failed;
    `headers` are the last answer's, names in lower case; `render_seconds` what a browser took, if there was one; `date`
    is what an archive says of its page."""

    outcome: PageOutcome
    hops: tuple[Hop, ...]
    content_type: str = ""
    robots: str = ""
    body: bytes = b""
    seconds: float = 0.0
    fault: str | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    render_seconds: float = 0.0
    date: str | None = None


class Fetcher:
    """Fetches side by side; belongs to one event loop."""

    def __init__(
        self,
        guard: ConnectionGuard,
        limits: PageLimits,
        user_agent: str = USER_AGENT,
        domain_of: Callable[[str], str] = last_two_labels,
        permit: Callable[[PageUrl], Awaitable[None]] | None = None,
    ) -> None:
        """`permit` is asked before every hop, and raises where nothing may be read."""
        self.limits = limits
        self._permit = permit
        self._guard = guard
        self._agent = user_agent
        self._gate = ReadTurns(limits, domain_of)

    async def fetch(self, url: str, want: ContentRequest = PAGE_REQUEST) -> Fetched:
        """Fetch a URL; a failure is an outcome."""
        budget = TimeBudget(self.limits.read_seconds)
        hops: list[Hop] = []
        try:
            return await self._follow(url, want, hops, budget)
        except ReadEnded as end:
            return Fetched(end.outcome, tuple(hops), seconds=budget.spent, fault=end.why)

    async def _follow(self, url: str, want: ContentRequest, hops: list[Hop], budget: TimeBudget) -> Fetched:
        host = None
        for _ in range(self.limits.redirects + 1):
            hops.append(Hop(url[:MAX_SHOWN]))
            place = parse_page_url(url)
            if self._permit is not None:
                await self._permit(place)
            async with self._gate.enter(place.host, pause=place.host != host), budget.spend():
                head, wire = await self._ask(place, want, hops)
            if head.status not in REDIRECTS:
                return await self._finish(head, wire, want, tuple(hops), budget)
            url, host = _next_url(place, head), place.host
        hops.append(Hop(url[:MAX_SHOWN]))
        raise PageUnreachable("hops")

    async def _ask(self, place: PageUrl, want: ContentRequest, hops: list[Hop]) -> tuple[HttpHead, bytes]:
        """The answer to one request; its body only if it is what is wanted."""
        line = await self._guard.open(place.host, self.limits.connect_seconds)
        hops[-1] = Hop(hops[-1].url, None, line.address)
        try:
            exchange = HttpExchange(line, self.limits)
            head = await exchange.head(place, self._headers(want))
            hops[-1] = Hop(hops[-1].url, head.status, line.address)
            wanted = judge_answer(head.status, head.find("content-type"), want.kinds) == "read"
            return head, await exchange.body() if wanted else b""
        finally:
            line.hang_up()

    async def _finish(
        self, head: HttpHead, wire: bytes, want: ContentRequest, hops: tuple[Hop, ...], budget: TimeBudget
    ) -> Fetched:
        kind, robots = head.find("content-type"), head.find_all("x-robots-tag")
        outcome = judge_answer(head.status, kind, want.kinds)
        encoding = head.find_all("content-encoding")
        body = (
            await asyncio.to_thread(decode_body, wire, encoding, self.limits.body_bytes) if outcome == "read" else b""
        )
        return Fetched(outcome, hops, kind, robots, body, budget.spent, headers=head.headers)

    def _headers(self, want: ContentRequest) -> Mapping[str, str]:
        origin = {"Origin": want.origin} if want.origin else {}
        return {"User-Agent": self._agent, "Accept": want.accept, "Accept-Encoding": ACCEPTED, **origin}


def _next_url(place: PageUrl, head: HttpHead) -> str:
    location = head.find("location")
    if not location:
        raise PageUnreachable("protocol")
    return join_page_url(place.url, location)
