"""Follow a URL to its content: every hop guarded anew, redirects by hand, nothing kept for the next read."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from weighbeam import __version__
from weighbeam.senses.pages.budget import Budget
from weighbeam.senses.pages.decode import ACCEPTED, decode_body
from weighbeam.senses.pages.ends import Ended, Unreachable
from weighbeam.senses.pages.exchange import Exchange, Head
from weighbeam.senses.pages.gate import Gate, last_two_labels
from weighbeam.senses.pages.guard import Guard
from weighbeam.senses.pages.limits import TEXT, Limits
from weighbeam.senses.pages.outcome import judge_answer
from weighbeam.senses.pages.place import Place, join_place, read_place
from weighbeam.senses.ports import Hop, Outcome

USER_AGENT = f"weighbeam/{__version__}"
REDIRECTS = (301, 302, 303, 307, 308)
MOST_SHOWN = 4_096


@dataclass(frozen=True, slots=True)
class Want:
    """What is asked for; kinds of None are all there are. `origin` is for whom, where a server has to allow it."""

    kinds: frozenset[str] | None = TEXT
    accept: str = "text/html, application/xhtml+xml, text/plain;q=0.8"
    origin: str = ""


PAGE = Want()


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where a URL led. `body` is decoded, and empty unless the outcome is `read`; `fault` is a word for what failed;
    `headers` are the last answer's, names in lower case; `render_seconds` what a browser took, if there was one; `date`
    is what an archive says of its page."""

    outcome: Outcome
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
        guard: Guard,
        limits: Limits,
        user_agent: str = USER_AGENT,
        domain_of: Callable[[str], str] = last_two_labels,
        permit: Callable[[Place], Awaitable[None]] | None = None,
    ) -> None:
        """`permit` is asked before every hop, and raises where nothing may be read."""
        self.limits = limits
        self._permit = permit
        self._guard = guard
        self._agent = user_agent
        self._gate = Gate(limits, domain_of)

    async def fetch(self, url: str, want: Want = PAGE) -> Fetched:
        """What a URL leads to; a failure is an outcome."""
        budget = Budget(self.limits.read_seconds)
        hops: list[Hop] = []
        try:
            return await self._follow(url, want, hops, budget)
        except Ended as end:
            return Fetched(end.outcome, tuple(hops), seconds=budget.spent, fault=end.why)

    async def _follow(self, url: str, want: Want, hops: list[Hop], budget: Budget) -> Fetched:
        host = None
        for _ in range(self.limits.redirects + 1):
            hops.append(Hop(url[:MOST_SHOWN]))
            place = read_place(url)
            if self._permit is not None:
                await self._permit(place)
            async with self._gate.enter(place.host, pause=place.host != host), budget.spend():
                head, wire = await self._ask(place, want, hops)
            if head.status not in REDIRECTS:
                return await self._finish(head, wire, want, tuple(hops), budget)
            url, host = _next_url(place, head), place.host
        hops.append(Hop(url[:MOST_SHOWN]))
        raise Unreachable("hops")

    async def _ask(self, place: Place, want: Want, hops: list[Hop]) -> tuple[Head, bytes]:
        """The answer to one request; its body only if it is what is wanted."""
        line = await self._guard.open(place.host, self.limits.connect_seconds)
        hops[-1] = Hop(hops[-1].url, None, line.address)
        try:
            exchange = Exchange(line, self.limits)
            head = await exchange.head(place, self._headers(want))
            hops[-1] = Hop(hops[-1].url, head.status, line.address)
            wanted = judge_answer(head.status, head.find("content-type"), want.kinds) == "read"
            return head, await exchange.body() if wanted else b""
        finally:
            line.hang_up()

    async def _finish(self, head: Head, wire: bytes, want: Want, hops: tuple[Hop, ...], budget: Budget) -> Fetched:
        kind, robots = head.find("content-type"), head.find_all("x-robots-tag")
        outcome = judge_answer(head.status, kind, want.kinds)
        encoding = head.find_all("content-encoding")
        body = (
            await asyncio.to_thread(decode_body, wire, encoding, self.limits.body_bytes) if outcome == "read" else b""
        )
        return Fetched(outcome, hops, kind, robots, body, budget.spent, headers=head.headers)

    def _headers(self, want: Want) -> Mapping[str, str]:
        origin = {"Origin": want.origin} if want.origin else {}
        return {"User-Agent": self._agent, "Accept": want.accept, "Accept-Encoding": ACCEPTED, **origin}


def _next_url(place: Place, head: Head) -> str:
    location = head.find("location")
    if not location:
        raise Unreachable("protocol")
    return join_place(place.url, location)
