"""Rules of a host's robots.txt (RFC 9309), if the operator wants them respected.

The file is a stranger's, so it is fetched through the same guard as pages under caps of its own, and cut down to the
groups that speak to us before it is parsed: a thousand groups of a thousand rules cost no more than our own.
"""

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass

from protego import Protego

from weighbeam.senses.adapters.pages.limits import TEXT, PageLimits
from weighbeam.senses.adapters.pages.outcome import PageBlocked, PageUnreachable
from weighbeam.senses.adapters.pages.web.fetch import ContentRequest, Fetched, Fetcher
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard
from weighbeam.senses.adapters.pages.web.url import PageUrl

ROBOTS_REQUEST = ContentRequest(TEXT | {"", "application/octet-stream"}, "text/plain")
ROBOTS_LIMITS = PageLimits(read_seconds=5.0, wire_bytes=512 << 10, body_bytes=512 << 10, host_gap_seconds=0.0)
KNOWN_SECONDS = 3_600.0
FAILED_SECONDS = 60.0
MAX_HOSTS = 1_000
MAX_BYTES = 32 << 20
ANYONE = "*"
COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z_-]+)")
PRODUCT = re.compile(r"[A-Za-z_-]+")
AGENT = re.compile(r"user[- ]?agent\s*:(.*)", re.IGNORECASE)
RULE = re.compile(r"(?:dis)?allow\s*:", re.IGNORECASE)


def find_token(user_agent: str) -> str:
    """The product that a robots.txt would name us by.

    >>> find_token("weighbeam/1.0"), find_token("Mozilla/5.0 (compatible; Some-Bot/2; +https://example.org)")
    ('weighbeam', 'some-bot')
    """
    found = COMPATIBLE.search(user_agent)
    product = PRODUCT.match(user_agent)
    return (found[1] if found else product[0] if product else ANYONE).lower()


def keep_own_groups(text: str, token: str) -> str:
    """The rules for `token` and for anyone, one agent each.

    >>> keep_own_groups("User-agent: a\\nUser-Agent: ME/2\\nDisallow: /x\\nUser-agent: b\\nDisallow: /", "me")
    'User-agent: me\\nDisallow: /x'
    """
    kept: list[str] = []
    agents: list[str] = []
    heading = False
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        agent = AGENT.match(line)
        if agent is not None:
            name = agent[1].partition("/")[0].strip().lower()
            agents = [*(agents if heading else []), *([name] if name in (token, ANYONE) else [])]
        elif not RULE.match(line):
            continue
        elif agents:
            kept += [f"User-agent: {name}" for name in dict.fromkeys(agents)] if heading else []
            kept.append(line)
        heading = agent is not None
    return "\n".join(kept)


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """Rules of a host: their text, or the reason in `closed` why nothing may be read."""

    text: str = ""
    closed: str | None = None
    until: float = 0.0


class Robots:
    """Asks each host once in a while; belongs to one event loop. `check` raises where a page may not be read."""

    def __init__(self, guard: ConnectionGuard, user_agent: str, limits: PageLimits = ROBOTS_LIMITS) -> None:
        self._fetcher = Fetcher(guard, limits, user_agent)
        self._token = find_token(user_agent)
        self._known: OrderedDict[str, asyncio.Task[RobotsRules]] = OrderedDict()

    async def check(self, place: PageUrl) -> None:
        """`PageBlocked` if the rules or a failing server say no; `PageUnreachable` if the host cannot be asked:
        our own
        network can be distinguished from the host's."""
        rules = await asyncio.shield(self._recall(place.host))
        if rules.closed == "unreachable":
            raise PageUnreachable("robots")
        if rules.closed or not await asyncio.to_thread(self._allows, rules.text, place):
            raise PageBlocked("robots")

    def _allows(self, text: str, place: PageUrl) -> bool:
        return not text or Protego.parse(text).can_fetch(place.url, self._token)

    def _recall(self, host: str) -> "asyncio.Task[RobotsRules]":
        """The task that finds a host's rules: under way, done and still good, or a new one."""
        known = self._known.get(host)
        if known is None or (known.done() and not self._holds(known)):
            known = self._known[host] = asyncio.ensure_future(self._ask(host))
        self._known.move_to_end(host)
        self._forget()
        return known

    def _holds(self, known: "asyncio.Task[RobotsRules]") -> bool:
        failed = known.cancelled() or known.exception() is not None
        return not failed and asyncio.get_running_loop().time() < known.result().until

    def _forget(self) -> None:
        """The longest unused, beyond so many hosts or so many bytes."""
        size = sum(len(one.result().text) for one in self._known.values() if one.done() and self._holds(one))
        while len(self._known) > MAX_HOSTS or (size > MAX_BYTES and len(self._known) > 1):
            _, oldest = self._known.popitem(last=False)
            size -= len(oldest.result().text) if oldest.done() and self._holds(oldest) else 0

    async def _ask(self, host: str) -> RobotsRules:
        fetched = await self._fetcher.fetch(f"https://{host}/robots.txt", ROBOTS_REQUEST)
        closed = judge_robots(fetched)
        now = asyncio.get_running_loop().time()
        if fetched.outcome != "read":
            return RobotsRules("", closed, now + (FAILED_SECONDS if closed else KNOWN_SECONDS))
        text = await asyncio.to_thread(keep_own_groups, fetched.body.decode("utf-8-sig", "replace"), self._token)
        return RobotsRules(text, None, now + KNOWN_SECONDS)


def judge_robots(fetched: Fetched) -> str | None:
    """Why nothing of a host may be read, or None. No file (4xx) allows everything, a failing server nothing; what the
    guard refuses at the host itself it refuses for the page too, and that is the page's own outcome."""
    if fetched.outcome in ("read", "gone", "blocked", "not_text") or fetched.fault == "hops":
        return None
    if fetched.outcome == "refused" and len(fetched.hops) == 1:
        return None
    return "unreachable" if fetched.outcome == "unreachable" else "failing"
