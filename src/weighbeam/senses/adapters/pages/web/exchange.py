"""One GET over one line, HTTP/1.1, every byte counted.

A client of our own over `h11`, because a general one pools connections, keeps cookies, reads 100 KiB of headers, and
lets an endless row of interim answers pass uncounted. Here the line is the guard's, and is used once.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import h11

from weighbeam.senses.adapters.pages.limits import PageLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreachable
from weighbeam.senses.adapters.pages.web.guard import GuardedConnection
from weighbeam.senses.adapters.pages.web.url import PageUrl

PIECE = 16 << 10
HEADERS_TOO_LONG = 431
PER_HEADER = 4


@dataclass(frozen=True, slots=True)
class HttpHead:
    """Status and headers; names are lower case, the first of equal names counts."""

    status: int
    headers: tuple[tuple[str, bytes], ...]

    def find(self, name: str) -> str:
        """A header's value, empty if absent; UTF-8 if it is that, else latin-1."""
        for own, value in self.headers:
            if own == name:
                try:
                    return value.decode().strip()
                except UnicodeDecodeError:
                    return value.decode("latin-1").strip()
        return ""

    def find_all(self, name: str) -> str:
        """All values of a header, joined by commas, as HTTP reads them."""
        return ", ".join(value.decode("latin-1").strip() for own, value in self.headers if own == name)


class HttpExchange:
    """A request on a line; `head` first, then `body` if it is wanted."""

    def __init__(self, line: GuardedConnection, limits: PageLimits) -> None:
        self._line, self._limits = line, limits
        self._talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=limits.header_bytes)
        self._heard = 0
        self._announced = 0

    async def head(self, place: PageUrl, headers: Mapping[str, str]) -> HttpHead:
        """Ask, and read as far as the headers of the answer."""
        request = h11.Request(
            method="GET", target=place.target, headers=[("Host", place.host), *headers.items(), ("Connection", "close")]
        )
        asked = [self._talk.send(request), self._talk.send(h11.EndOfMessage())]
        try:
            self._line.writer.write(b"".join(part for part in asked if part))
            await self._line.writer.drain()
        except OSError:
            raise PageUnreachable("cut") from None
        left = self._limits.header_bytes
        async for event in self._events():
            if isinstance(event, h11.InformationalResponse | h11.Response):
                left -= sum(len(name) + len(value) + PER_HEADER for name, value in event.headers.raw_items())
                if left < 0:
                    raise PageTooLarge("headers")
            if isinstance(event, h11.Response):
                head = HttpHead(
                    event.status_code, tuple((name.decode("ascii"), value) for name, value in event.headers)
                )
                self._announced = int(head.find("content-length") or 0)
                return head
        raise PageUnreachable("protocol")

    async def body(self) -> bytes:
        """The body as it is on the wire, or `PageTooLarge` as soon as it is."""
        if self._announced > self._limits.wire_bytes:
            raise PageTooLarge("wire")
        parts: list[bytes] = []
        async for event in self._events():
            if isinstance(event, h11.Data):
                parts.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                return b"".join(parts)
        raise PageUnreachable("protocol")

    async def _events(self) -> AsyncIterator[object]:
        """Events from the other side until the end."""
        while True:
            try:
                event = self._talk.next_event()
            except h11.RemoteProtocolError as fault:
                if fault.error_status_hint == HEADERS_TOO_LONG:
                    raise PageTooLarge("headers") from None
                raise PageUnreachable("protocol") from None
            if event is h11.NEED_DATA:
                await self._listen()
            elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                return
            else:
                yield event

    async def _listen(self) -> None:
        try:
            data = await self._line.reader.read(PIECE)
        except OSError:
            raise PageUnreachable("cut") from None
        self._heard += len(data)
        if self._heard > self._limits.wire_bytes:
            raise PageTooLarge("wire")
        self._talk.receive_data(data)
