"""One page in one browser tab, and the snapshot of its visible text."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any

from weighbeam.senses.adapters.pages.browser.devtools import DevToolsPipe
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.browser.process import BrowserInstance, check_memory, watch_memory
from weighbeam.senses.adapters.pages.browser.resources import BrowserDocument, ResourceSupply
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable, ReadEnded
from weighbeam.senses.adapters.pages.web.fetch import Fetcher

SNAPSHOT = files(__package__).joinpath("snapshot.js").read_text()
SCREEN = {"width": 1280, "height": 4_000, "deviceScaleFactor": 1, "mobile": False}
ONLINE = "Object.defineProperty(Navigator.prototype, 'onLine', {get: () => true, configurable: true})"
WORLD = "weighbeam"


class BrowserTab:
    """One page in one browser. What the page does of itself is heard as events."""

    def __init__(
        self, browser: BrowserInstance, document: BrowserDocument, fetcher: Fetcher, limits: RenderLimits
    ) -> None:
        self._browser, self._document, self._limits = browser, document, limits
        self._wire = DevToolsPipe(browser.reader, browser.writer, limits)
        self._supply = ResourceSupply(self._wire, document, fetcher, limits)
        self._target = self._session = ""
        self._loaded, self._settled = asyncio.Event(), asyncio.Event()
        self._asides: set[asyncio.Task[None]] = set()

    async def see(self) -> str:
        """The page as HTML in which all that cannot be seen is marked; `ReadEnded` if it never comes to that."""
        seeing = asyncio.ensure_future(self._see())
        others = [
            asyncio.ensure_future(self._wire.listen(self._hear)),
            asyncio.ensure_future(watch_memory(self._browser.pid, self._limits.memory_bytes)),
        ]
        try:
            ends: list[asyncio.Future[Any]] = [seeing, *others, self._supply.over]
            first, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for done in first:
                done.result()
            return seeing.result()
        finally:
            self._supply.stop()
            tasks = [seeing, *others, *self._asides]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _see(self) -> str:
        end = asyncio.get_running_loop().time() + self._limits.settle_seconds
        await self._open()
        shown = await self._page("Page.navigate", url=self._document.url)
        if shown.get("errorText"):
            raise PageUnreadable("browser")
        await _wait(self._loaded, end)
        budget = self._limits.page_seconds * 1_000
        await self._page("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=budget)
        await _wait(self._settled, end)
        world = await self._page("Page.createIsolatedWorld", frameId=self._target, worldName=WORLD)
        seen = await self._take_snapshot(world["executionContextId"], shown["loaderId"])
        await check_memory(self._browser.pid, self._limits.memory_bytes)
        return seen

    async def _open(self) -> None:
        """An empty page from which nothing gets out, and into which nothing gets but by `ResourceSupply`."""
        call = self._wire.call
        await asyncio.gather(
            call("Browser.setDownloadBehavior", behavior="deny"), call("Browser.grantPermissions", permissions=[])
        )
        self._target = (await call("Target.createTarget", url="about:blank"))["targetId"]
        self._session = (await call("Target.attachToTarget", targetId=self._target, flatten=True))["sessionId"]
        page = self._page
        await asyncio.gather(
            call("Target.setDiscoverTargets", discover=True),
            page("Fetch.enable"),
            page("Page.enable"),
            page("Inspector.enable"),
            page("Page.addScriptToEvaluateOnNewDocument", source=ONLINE),
            page("Network.setBypassServiceWorker", bypass=True),
            page("Emulation.setDeviceMetricsOverride", **SCREEN),
        )

    async def _page(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._wire.call(method, self._session, **params)

    async def _take_snapshot(self, world: int, loader: str) -> str:
        limit = f"({self._limits.nodes}, {self._limits.characters})"
        said = await self._page("Runtime.evaluate", expression=SNAPSHOT + limit, contextId=world, returnByValue=True)
        frame = (await self._page("Page.getFrameTree"))["frameTree"]["frame"]
        if frame.get("loaderId") != loader:
            raise PageUnreadable("left")
        value = said.get("result", {}).get("value")
        if value == "too_large":
            raise PageTooLarge("rendered")
        if not isinstance(value, str):
            raise PageUnreadable("browser")
        return value

    def _hear(self, method: str, said: Mapping[str, Any]) -> None:
        if method == "Fetch.requestPaused":
            self._supply.take(self._session, self._target, said)
        elif method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Emulation.virtualTimeBudgetExpired":
            self._settled.set()
        elif method == "Page.javascriptDialogOpening":
            self._aside("Page.handleJavaScriptDialog", self._session, accept=False)
        elif method == "Target.targetCreated":
            opened = said["targetInfo"]
            if opened["type"] == "page" and opened["targetId"] != self._target:
                self._aside("Target.closeTarget", targetId=opened["targetId"])
        elif method in ("Inspector.targetCrashed", "Target.targetCrashed"):
            raise PageUnreadable("crash")

    def _aside(self, method: str, session: str = "", **params: Any) -> None:
        """Call without waiting, so that the listener continues."""

        async def call() -> None:
            with suppress(ReadEnded):
                await self._wire.call(method, session, **params)

        task = asyncio.ensure_future(call())
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)


async def _wait(happened: asyncio.Event, end: float) -> None:
    """For it to happen, or for time to be up."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end):
            await happened.wait()
