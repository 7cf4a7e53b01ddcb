"""The age of a domain, from its registry over RDAP, through the same guard and caps as pages.

Written over our own fetcher: the RDAP packages there are bring HTTP clients of their own, which no guard can be given.
Which registry to ask is in IANA's bootstrap file, fetched when first needed and kept for days; a base URL of the
operator's own replaces it. Registries are named by that file, but what they redirect to is anybody's: hence the guard.
"""

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from weighbeam.core.canonical import digest_json
from weighbeam.senses.adapters.pages.event_loop import EventLoopThread, finish_within
from weighbeam.senses.adapters.pages.limits import PageLimits
from weighbeam.senses.adapters.pages.web.fetch import USER_AGENT, ContentRequest, Fetcher
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard


def parse_json(body: bytes) -> Any:
    """Parse the content, or return None if it is not readable JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def find_registration(content: Any) -> float | None:
    """When a domain was registered, in seconds since 1970; None if the answer does not say.

    >>> find_registration({"events": [{"eventAction": "Registration", "eventDate": "1970-01-02T00:00:00Z"}]})
    86400.0
    """
    events = content.get("events") if isinstance(content, dict) else None
    for event in events if isinstance(events, list) else []:
        action = event.get("eventAction") if isinstance(event, dict) else None
        if isinstance(action, str) and action.strip().lower() == "registration":
            return _parse_moment(event.get("eventDate"))
    return None


def parse_bootstrap(content: Any) -> Mapping[str, str]:
    """The RDAP server of each top-level domain, https only.

    >>> parse_bootstrap({"services": [[["org", "ngo"], ["http://a.example/", "https://a.example/rdap"]]]})
    {'org': 'https://a.example/rdap/', 'ngo': 'https://a.example/rdap/'}
    """
    services = content.get("services") if isinstance(content, dict) else None
    servers: dict[str, str] = {}
    for service in services if isinstance(services, list) else []:
        try:
            suffixes, urls = service
            server = next(url for url in urls if url.startswith("https://"))
            servers |= {suffix.lower(): server.rstrip("/") + "/" for suffix in suffixes}
        except (TypeError, ValueError, AttributeError, StopIteration):
            continue
    return servers


def _parse_moment(text: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


BOOTSTRAP = "https://data.iana.org/rdap/dns.json"
RDAP_REQUEST = ContentRequest(
    frozenset({"application/rdap+json", "application/json"}), "application/rdap+json, application/json"
)
RDAP_LIMITS = PageLimits(
    read_seconds=10.0,
    wire_bytes=512 << 10,
    body_bytes=2 << 20,
    redirects=3,
    per_domain=4,
    host_gap_seconds=0.1,
    all_seconds=20.0,
)
DOMAIN = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")
DAY = 86_400.0
KNOWN_SECONDS = 7 * DAY
UNKNOWN_SECONDS = 3_600.0
MAX_DOMAINS = 20_000


@dataclass(frozen=True, slots=True)
class Registration:
    """When a domain was registered (None: not known), and when that was asked, in seconds since 1970."""

    registered: float | None
    asked: float

    def holds(self, now: float) -> bool:
        """Whether it need not be asked again yet."""
        return 0 <= now - self.asked < (UNKNOWN_SECONDS if self.registered is None else KNOWN_SECONDS)


class Registrations(Protocol):
    """Where registrations are kept between runs."""

    def recall(self, domain: str) -> Registration | None: ...

    def keep(self, domain: str, registration: Registration) -> None: ...


@dataclass(frozen=True, slots=True)
class AgeSettings:
    """Source of domain ages. `base_url` is one RDAP server for every domain, instead of those of the bootstrap file."""

    base_url: str | None = None
    bootstrap_url: str = BOOTSTRAP
    user_agent: str = USER_AGENT
    limits: PageLimits = field(default_factory=lambda: RDAP_LIMITS)


class RdapAges:
    """Ages from any thread; whatever goes wrong, an age is None."""

    id = "rdap"

    def __init__(
        self,
        settings: AgeSettings | None = None,
        guard: ConnectionGuard | None = None,
        kept: Registrations | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings or AgeSettings()
        self.digest = digest_json({"base": self._settings.base_url, "bootstrap": self._settings.bootstrap_url})
        self._fetcher = Fetcher(guard or ConnectionGuard(), self._settings.limits, self._settings.user_agent)
        self._kept, self._now = kept, now
        self._memory: OrderedDict[str, Registration] = OrderedDict()
        self._servers: Mapping[str, str] = {}
        self._servers_until = 0.0
        self._bootstrapping = asyncio.Lock()
        self._loop = EventLoopThread("ages")

    def age_days(self, domain: str) -> float | None:
        return self.age_days_of([domain])[0]

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        """One age per domain, asked side by side; a registry that hangs holds nobody up for long."""
        asking = [self._find_age(domain) for domain in domains]
        return self._loop.run(finish_within(self._settings.limits.all_seconds, asking, None))

    async def _find_age(self, domain: str) -> float | None:
        domain = domain.lower()
        if not DOMAIN.fullmatch(domain):
            return None
        known = self._recall(domain)
        if known is None:
            known = Registration(await self._ask(domain), self._now())
            self._remember(domain, known)
            if self._kept is not None:
                self._kept.keep(domain, known)
        if known.registered is None or known.registered > self._now():
            return None
        return (self._now() - known.registered) / DAY

    def _recall(self, domain: str) -> Registration | None:
        known = self._memory.get(domain)
        if known is None and self._kept is not None:
            known = self._kept.recall(domain)
        return known if known is not None and known.holds(self._now()) else None

    def _remember(self, domain: str, known: Registration) -> None:
        self._memory[domain] = known
        self._memory.move_to_end(domain)
        while len(self._memory) > MAX_DOMAINS:
            self._memory.popitem(last=False)

    async def _ask(self, domain: str) -> float | None:
        server = self._settings.base_url or await self._find_server(domain)
        if server is None:
            return None
        fetched = await self._fetcher.fetch(f"{server.rstrip('/')}/domain/{domain}", RDAP_REQUEST)
        return find_registration(parse_json(fetched.body)) if fetched.outcome == "read" else None

    async def _find_server(self, domain: str) -> str | None:
        async with self._bootstrapping:
            if self._now() >= self._servers_until:
                fetched = await self._fetcher.fetch(self._settings.bootstrap_url, RDAP_REQUEST)
                servers = parse_bootstrap(parse_json(fetched.body)) if fetched.outcome == "read" else {}
                self._servers = servers or self._servers
                self._servers_until = self._now() + (KNOWN_SECONDS if servers else UNKNOWN_SECONDS)
        labels = domain.split(".")
        suffixes = (".".join(labels[place:]) for place in range(1, len(labels)))
        return next((self._servers[suffix] for suffix in suffixes if suffix in self._servers), None)

    def close(self) -> None:
        """End its thread."""
        self._loop.close()
