"""From a page that was fetched to the page that a browser makes of it: a fresh browser for each, gone afterwards."""

import asyncio
from dataclasses import asdict, replace
from hashlib import sha256

from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.browser.process import check_confinement, detect_browser_version, start_browser
from weighbeam.senses.adapters.pages.browser.resources import BrowserDocument
from weighbeam.senses.adapters.pages.browser.tab import SNAPSHOT, BrowserTab
from weighbeam.senses.adapters.pages.limits import HTML, PageLimits
from weighbeam.senses.adapters.pages.outcome import PageUnreachable, PageUnreadable, ReadEnded, media_type
from weighbeam.senses.adapters.pages.parsing.charset import decode_text
from weighbeam.senses.adapters.pages.web.fetch import USER_AGENT, Fetched, Fetcher
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard
from weighbeam.senses.adapters.pages.web.probe import NetworkProbe
from weighbeam.senses.adapters.pages.web.url import parse_page_url

RENDERED = "text/html; charset=utf-8"
KNOWN = BrowserDocument(
    "https://known.example/",
    b"<style>.x{display:none}</style><p>Light is</p><p class=x>slow</p><script>document.write('<p>fast.')</script>",
)
KNOWN_PARTS = ("<p>Light is</p>", "<span hidden>slow</span>", "<p>fast.</p>")
KNOWN_SECONDS = 20.0
PER_DOMAIN = 8

RUN = "see whether it runs by hand (chromium --headless --dump-dom about:blank) and has a font, or turn rendering off"


class Renderer:
    """Shows pages in up to `browsers` browsers at once. It belongs to one event loop."""

    def __init__(
        self, program: str, user_agent: str, guard: ConnectionGuard, limits: PageLimits, own: RenderLimits | None = None
    ) -> None:
        self.limits = own or RenderLimits()
        self._program, self._user_agent = program, user_agent
        self._read_seconds = limits.read_seconds
        parts = replace(
            limits, redirects=0, host_gap_seconds=0.0, per_domain=PER_DOMAIN, body_bytes=self.limits.part_bytes
        )
        self._fetcher = Fetcher(guard, parts, user_agent)
        self._places = asyncio.Semaphore(self.limits.browsers)
        self._probe = NetworkProbe(lambda _: self.shows_known(), ("known",))

    def describe(self) -> dict[str, Json]:
        """Everything that what is seen depends on."""
        script = sha256(SNAPSHOT.encode()).hexdigest()
        return {"browser": detect_browser_version(self._program), "script": script, "limits": asdict(self.limits)}

    async def render(self, fetched: Fetched) -> Fetched:
        """Render a fetched page. A page that crashes its browser is unreadable, unless the
        browser cannot show a known page either: then it is our fault."""
        if fetched.outcome != "read" or media_type(fetched.content_type) not in HTML:
            return fetched
        clock = asyncio.get_running_loop().time
        async with self._places:
            began = clock()
            try:
                body = await self._render(fetched)
            except ReadEnded as end:
                outcome, why, spent = end.outcome, end.why, clock() - began
            else:
                return replace(fetched, body=body, content_type=RENDERED, render_seconds=clock() - began)
        if outcome == "unreadable" and not await self._probe.works():
            outcome, why = "fault", "browser"
        return replace(fetched, outcome=outcome, fault=why, body=b"", render_seconds=spent)

    async def _render(self, fetched: Fetched) -> bytes:
        left = self._read_seconds - fetched.seconds
        if left <= 0:
            raise PageUnreachable("timeout")
        text = decode_text(fetched.body, fetched.content_type)
        kind = f"{media_type(fetched.content_type)}; charset=utf-8"
        url = parse_page_url(fetched.hops[-1].url).url
        document = BrowserDocument(url, text.encode("utf-8", "replace"), kind, fetched.headers)
        return (await self._show(document, min(left, self.limits.seconds))).encode("utf-8", "replace")

    async def _show(self, document: BrowserDocument, seconds: float) -> str:
        """However it ends, nothing of the browser is left."""
        try:
            async with asyncio.timeout(seconds):
                browser = await start_browser(self._program, self._user_agent, self.limits)
                try:
                    return await BrowserTab(browser, document, self._fetcher, self.limits).see()
                finally:
                    await asyncio.shield(browser.end())
        except TimeoutError:
            raise PageUnreadable("render") from None
        except OSError:
            raise PageUnreadable("browser") from None

    async def shows_known(self) -> bool:
        """Whether a page whose looks are known is shown as it should be. It has time enough, or pages that keep the
        processors busy would make their own failure look like ours."""
        try:
            seen = await self._show(KNOWN, KNOWN_SECONDS)
        except ReadEnded:
            return False
        return all(part in seen for part in KNOWN_PARTS)

    async def check(self) -> str:
        """Return the browser's version; `no_browser`, `no_namespaces` or `browser_fault` if it cannot render."""
        await asyncio.to_thread(check_confinement)
        version = await asyncio.to_thread(detect_browser_version, self._program)
        if not await self.shows_known():
            told = f"{self._program} does not show a known page when started without a network"
            raise WeighbeamError("browser_fault", told, RUN)
        return version


def check_browser(program: str) -> str:
    """Whether pages can be rendered here, without reading any."""
    return asyncio.run(Renderer(program, USER_AGENT, ConnectionGuard(), PageLimits()).check())
