"""Answer what a page asks its browser for: the page itself, already read, and the parts that make its text.

Every part is fetched by the guarded reader, GET and https only, one hop at a time: the browser follows redirects
itself, so that it knows whose a part is, and each hop comes by here. Pictures, fonts, media and frames bear no text.
"""

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from weighbeam.senses.adapters.pages.browser.devtools import DevToolsPipe
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, ReadEnded
from weighbeam.senses.adapters.pages.web.fetch import REDIRECTS, ContentRequest, Fetched, Fetcher

WANTED = ("Stylesheet", "Script", "XHR", "Fetch")
PASSED_ON = frozenset(
    "content-type content-security-policy x-content-type-options cross-origin-resource-policy "
    "access-control-allow-origin access-control-allow-credentials access-control-expose-headers".split()
)
MAX_ORIGIN = 300

Headers = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class BrowserDocument:
    """Document that the browser shows, converted to UTF-8."""

    url: str
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, bytes], ...] = ()


class ResourceSupply:
    """Answers the requests of one page. `over` ends badly if the page is too much to be judged fairly."""

    def __init__(self, wire: DevToolsPipe, document: BrowserDocument, fetcher: Fetcher, limits: RenderLimits) -> None:
        self._wire, self._document, self._fetcher, self._limits = wire, document, fetcher, limits
        self._asked = self._sheets = self._bytes = 0
        self._served = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, session: str, frame: str, paused: Mapping[str, Any]) -> None:
        """A request is waiting for its answer."""
        task = asyncio.ensure_future(self._answer(session, frame, paused))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        for task in (*self._tasks, self.over):
            task.cancel()

    async def _answer(self, session: str, frame: str, paused: Mapping[str, Any]) -> None:
        """Answer every request, even after an unexpected fault: an unanswered one would block the page."""
        try:
            said = await self._decide(frame, paused)
        except Exception as end:
            if not self.over.done():
                self.over.set_exception(end)
            return
        method = "Fetch.failRequest" if "errorReason" in said else "Fetch.fulfillRequest"
        with suppress(ReadEnded):  # the page went on without waiting, or the browser is gone, which `listen` tells
            await self._wire.call(method, session, requestId=paused["requestId"], **said)

    async def _decide(self, frame: str, paused: Mapping[str, Any]) -> dict[str, Any]:
        if paused["resourceType"] == "Document":
            return self._show_document(paused["frameId"] == frame)
        return await self._find_part(paused["resourceType"], paused["request"])

    def _show_document(self, is_page: bool) -> dict[str, Any]:
        """Show the page once. A navigation by the page itself is not a redirect of the server and is not followed."""
        if not is_page:
            return {"errorReason": "BlockedByClient"}
        if self._served:
            return {"errorReason": "Aborted"}
        self._served = True
        document = self._document
        headers = [one for one in _pass_on(document.headers) if one["name"] != "content-type"]
        headers.append({"name": "content-type", "value": document.content_type})
        return _fulfil(200, headers, document.body)

    async def _find_part(self, kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if kind not in WANTED or request["method"] != "GET" or not self._has_room(kind):
            return {"errorReason": "BlockedByClient"}
        origin = {name.lower(): value for name, value in request["headers"].items()}.get("origin", "")[:MAX_ORIGIN]
        fetched = await self._fetcher.fetch(request["url"], ContentRequest(None, "*/*", origin))
        self._bytes += len(fetched.body)
        if kind == "Stylesheet" and fetched.outcome == "too_large":
            raise PageTooLarge("stylesheet")
        return _format_answer(fetched)

    def _has_room(self, kind: str) -> bool:
        """Whether one more may be fetched. A page is not read without the style sheets that may hide its text."""
        full = self._bytes >= self._limits.total_bytes
        if kind == "Stylesheet":
            self._sheets += 1
            if full or self._sheets > self._limits.sheets:
                raise PageTooLarge("stylesheets")
            return True
        self._asked += 1
        return not full and self._asked <= self._limits.requests


def _format_answer(fetched: Fetched) -> dict[str, Any]:
    """Format a response for the browser: redirects stay redirects, refusals and failures become no answer."""
    if fetched.fault == "hops" and fetched.hops[-2].status in REDIRECTS:
        headers = [*_pass_on(fetched.headers), {"name": "location", "value": fetched.hops[-1].url}]
        return _fulfil(fetched.hops[-2].status or 302, headers, b"")
    status = fetched.hops[-1].status
    if status is None or fetched.fault is not None:
        return {"errorReason": "AccessDenied" if fetched.outcome == "refused" else "Failed"}
    return _fulfil(status, _pass_on(fetched.headers), fetched.body)


def _pass_on(headers: tuple[tuple[str, bytes], ...]) -> Headers:
    """No cookie, and nothing about an encoding that is undone; latin-1 is what headers are made of."""
    return [{"name": name, "value": value.decode("latin-1")} for name, value in headers if name in PASSED_ON]


def _fulfil(status: int, headers: Headers, body: bytes) -> dict[str, Any]:
    return {"responseCode": status, "responseHeaders": headers, "body": base64.b64encode(body).decode("ascii")}
