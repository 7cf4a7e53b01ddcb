"""How old a domain is, from its registry over RDAP, through the same guard and caps as pages.

Written over our own fetcher: the RDAP packages there are bring HTTP clients of their own, which no guard can be given.
Which registry to ask is in IANA's bootstrap file, fetched when first needed and kept for days; a base URL of the
operator's own replaces it. Registries are named by that file, but what they redirect to is anybody's: hence the guard.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weighbeam.core.canonical import digest_json
from weighbeam.senses.pages.fetch import USER_AGENT, Fetcher, Want
from weighbeam.senses.pages.guard import Guard
from weighbeam.senses.pages.limits import Limits
from weighbeam.senses.pages.loop import Loop, finish_within
from weighbeam.senses.pages.rdap import find_registration, read_bootstrap, read_json

BOOTSTRAP = "https://data.iana.org/rdap/dns.json"
RDAP = Want(frozenset({"application/rdap+json", "application/json"}), "application/rdap+json, application/json")
RDAP_LIMITS = Limits(
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
MOST_DOMAINS = 20_000


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
    """Whom to ask. `base_url` is one RDAP server for every domain, instead of those of the bootstrap file."""

    base_url: str | None = None
    bootstrap_url: str = BOOTSTRAP
    user_agent: str = USER_AGENT
    limits: Limits = field(default_factory=lambda: RDAP_LIMITS)


class RdapAges:
    """Ages from any thread; whatever goes wrong, an age is None."""

    id = "rdap"

    def __init__(
        self,
        settings: AgeSettings | None = None,
        guard: Guard | None = None,
        kept: Registrations | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings or AgeSettings()
        self.digest = digest_json({"base": self._settings.base_url, "bootstrap": self._settings.bootstrap_url})
        self._fetcher = Fetcher(guard or Guard(), self._settings.limits, self._settings.user_agent)
        self._kept, self._now = kept, now
        self._memory: OrderedDict[str, Registration] = OrderedDict()
        self._servers: Mapping[str, str] = {}
        self._servers_until = 0.0
        self._bootstrapping = asyncio.Lock()
        self._loop = Loop("ages")

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
        while len(self._memory) > MOST_DOMAINS:
            self._memory.popitem(last=False)

    async def _ask(self, domain: str) -> float | None:
        server = self._settings.base_url or await self._find_server(domain)
        if server is None:
            return None
        fetched = await self._fetcher.fetch(f"{server.rstrip('/')}/domain/{domain}", RDAP)
        return find_registration(read_json(fetched.body)) if fetched.outcome == "read" else None

    async def _find_server(self, domain: str) -> str | None:
        async with self._bootstrapping:
            if self._now() >= self._servers_until:
                fetched = await self._fetcher.fetch(self._settings.bootstrap_url, RDAP)
                servers = read_bootstrap(read_json(fetched.body)) if fetched.outcome == "read" else {}
                self._servers = servers or self._servers
                self._servers_until = self._now() + (KNOWN_SECONDS if servers else UNKNOWN_SECONDS)
        labels = domain.split(".")
        suffixes = (".".join(labels[place:]) for place in range(1, len(labels)))
        return next((self._servers[suffix] for suffix in suffixes if suffix in self._servers), None)

    def close(self) -> None:
        """End its thread."""
        self._loop.close()
