"""Pages from the live web, and page sources by name."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from weighbeam.core.canonical import Json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.browser.renderer import Renderer
from weighbeam.senses.adapters.pages.event_loop import EventLoopThread, finish_within
from weighbeam.senses.adapters.pages.limits import PageLimits
from weighbeam.senses.adapters.pages.parsing.parsers import READER_VERSION, ParserPool, complete_page
from weighbeam.senses.adapters.pages.web.fetch import USER_AGENT, Fetched, Fetcher
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard, dial
from weighbeam.senses.adapters.pages.web.probe import KNOWN_URLS, NetworkProbe
from weighbeam.senses.adapters.pages.web.turns import last_two_labels
from weighbeam.senses.adapters.pages.web.url import PageUrl
from weighbeam.senses.ports.page import Hop, Page


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How pages are read. `domain_of` groups hosts for the cap per domain; `probe_urls` empty means that no failure
    to reach a page is ever ours; `robots` says whether what hosts write in robots.txt is respected. `browser` is the
    program that renders pages; None: they are read as they come."""

    limits: PageLimits = field(default_factory=PageLimits)
    user_agent: str = USER_AGENT
    domain_of: Callable[[str], str] = last_two_labels
    probe_urls: tuple[str, ...] = KNOWN_URLS
    browser: str | None = None
    rendering: RenderLimits = field(default_factory=RenderLimits)
    robots: Literal["ignore", "respect"] = "ignore"


class LivePages:
    """Reads pages from any thread. `keep` receives every fetch, for an archive: rendered, if pages are."""

    def __init__(
        self,
        settings: LiveSettings | None = None,
        guard: ConnectionGuard | None = None,
        parsers: ParserPool | None = None,
        keep: Callable[[Fetched], None] | None = None,
    ) -> None:
        settings = settings or LiveSettings()
        guard = guard or ConnectionGuard()
        self._parsers = parsers or ParserPool()
        limits = {"read": asdict(settings.limits), "parse": asdict(self._parsers.limits)}
        manners: dict[str, Json] = {"user_agent": settings.user_agent, "robots": settings.robots}
        self._keep = keep
        self._all_seconds = settings.limits.all_seconds + (settings.rendering.all_seconds if settings.browser else 0.0)
        self._loop = EventLoopThread()
        self._threads = ThreadPoolExecutor(self._parsers.workers, "pages-parse")
        permit = _open_robots(guard, settings) if settings.robots == "respect" else None
        self._fetcher = Fetcher(guard, settings.limits, settings.user_agent, settings.domain_of, permit)
        probing = Fetcher(guard, replace(settings.limits, host_gap_seconds=0.0, redirects=0), settings.user_agent)
        self._probe = NetworkProbe(lambda url: _is_answered(probing, url), settings.probe_urls)
        self._renderer = self._open_renderer(settings, guard)
        rendering = {} if self._renderer is None else {"rendering": self._renderer.describe()}
        self.id = "live" if self._renderer is None else "live-rendered"
        self.digest = digest_json({"reader": READER_VERSION, **manners, "limits": limits, **rendering})

    def _open_renderer(self, settings: LiveSettings, guard: ConnectionGuard) -> Renderer | None:
        """Shown to work before anything is read; there is no reading without it if it was asked for."""
        if settings.browser is None:
            return None
        renderer = Renderer(settings.browser, settings.user_agent, guard, settings.limits, settings.rendering)
        try:
            self._loop.run(renderer.check())
        except BaseException:
            self._loop.close()
            raise
        return renderer

    def read(self, url: str) -> Page:
        return self.read_all([url])[0]

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        distinct = list(dict.fromkeys(urls))
        pages = dict(zip(distinct, self._loop.run(self._fetch_distinct(distinct)), strict=True))
        return [pages[url] for url in urls]

    async def _fetch_distinct(self, urls: Sequence[str]) -> list[Page]:
        """Fetch distinct URLs; pages not read by the deadline are given up."""
        late = Page("unreachable", ())
        queued: set[str] = set()
        read = await finish_within(self._all_seconds, [self._read(url, queued) for url in urls], late)
        ours = frozenset(queued)
        if late in read and not await self._probe.works():
            ours = frozenset(urls)
        given = zip(urls, read, strict=True)
        return [page if page.hops else _make_late_page(url, url in ours) for url, page in given]

    async def _read(self, url: str, queued: set[str]) -> Page:
        """One page. What nobody foresaw is the page's doing, since others are read by the same code."""
        try:
            return await self._fetch_foreseen(url, queued)
        except Exception as surprise:
            return Page("unreadable", (Hop(url),), fault=type(surprise).__name__)

    async def _fetch_foreseen(self, url: str, queued: set[str]) -> Page:
        """`queued` holds those that came in time and wait for a parser."""
        fetched = await self._fetcher.fetch(url)
        if fetched.outcome == "unreachable" and not await self._probe.works():
            fetched = replace(fetched, outcome="fault", fault="network")
        if self._renderer is not None:
            fetched = await self._renderer.render(fetched)
        try:
            if self._keep is not None:
                await asyncio.to_thread(self._keep, fetched)
        except OSError:
            return Page("fault", fetched.hops, fault="disk")
        if fetched.outcome != "read":
            return complete_page(fetched, self._parsers)
        queued.add(url)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._parse, fetched, url, queued)

    def _parse(self, fetched: Fetched, url: str, queued: set[str]) -> Page:
        queued.discard(url)
        return complete_page(fetched, self._parsers)

    def close(self) -> None:
        """End its thread and its processes."""
        self._loop.close()
        self._threads.shutdown()
        self._parsers.close()


def _open_robots(guard: ConnectionGuard, settings: LiveSettings) -> Callable[[PageUrl], Awaitable[None]]:
    """Loaded only if wanted: without it, nothing of robots is in the way."""
    from weighbeam.senses.adapters.pages.web.robots import Robots

    return Robots(guard, settings.user_agent).check


def _make_late_page(url: str, ours: bool) -> Page:
    """A page that was not read by the deadline; one that only waited for our parsers is not to blame."""
    return Page("fault" if ours else "unreachable", (Hop(url),), fault="deadline")


async def _is_answered(fetcher: Fetcher, url: str) -> bool:
    fetched = await fetcher.fetch(url)
    return any(hop.status is not None for hop in fetched.hops)


def load_pages(source: str, settings: LiveSettings | None = None) -> LivePages | ArchivePages:
    """`live` is the web, `archive:PLACE` what was saved of it in a folder or a WARC file; else `unknown_pages`."""
    if source == "live":
        return LivePages(settings)
    kind, _, folder = source.partition(":")
    if kind == "archive" and folder:
        return ArchivePages(Path(folder))
    raise WeighbeamError("unknown_pages", f"{source!r} is not a source of pages", "write live or archive:PLACE")


def load_pages_from(address: str, settings: LiveSettings | None = None) -> LivePages:
    """The web, as it shows itself to one of this machine's other addresses; `bad_config` if that is none."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise WeighbeamError(
            "bad_config", f"{address!r} is not an address", "name an address of this machine"
        ) from None
    return LivePages(settings, ConnectionGuard(connect=partial(dial, source=address)))
