"""Speak to a browser: its DevTools protocol over two pipes, JSON messages with a zero byte after each.

What it says is a stranger's page talking, so it is counted: messages, events and bytes.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable

END = b"\0"
OnDevToolsEvent = Callable[[str, Mapping[str, Any]], None]


class DevToolsPipe:
    """Calls and their answers by number; everything else is an event for `on_event`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: RenderLimits) -> None:
        self._reader, self._writer, self._limits = reader, writer, limits
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = self._events = self._heard = 0

    async def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """The result of a call to a session, or to the browser itself; `PageUnreadable` if it is refused."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._writer.write(json.dumps(message).encode() + END)
            await self._writer.drain()
            return await answer
        except OSError:
            raise PageUnreadable("browser") from None
        finally:
            del self._waiting[number]

    async def listen(self, on_event: OnDevToolsEvent) -> None:
        """Until the browser is gone, which is `PageUnreadable`, or has said too much."""
        while True:
            message = await self._receive()
            waiting = self._waiting.get(message.get("id", 0))
            if waiting is not None and not waiting.done():
                if "error" in message:
                    waiting.set_exception(PageUnreadable("browser"))
                else:
                    waiting.set_result(message.get("result", {}))
            elif "method" in message:
                self._events += 1
                if self._events > self._limits.events:
                    raise PageTooLarge("events")
                on_event(message["method"], message.get("params", {}))

    async def _receive(self) -> dict[str, Any]:
        try:
            raw = await self._reader.readuntil(END)
        except asyncio.LimitOverrunError:
            raise PageTooLarge("message") from None
        except (asyncio.IncompleteReadError, OSError):
            raise PageUnreadable("browser") from None
        self._heard += len(raw)
        if self._heard > self._limits.heard_bytes:
            raise PageTooLarge("message")
        try:
            message = json.loads(raw[:-1])
        except ValueError:
            raise PageUnreadable("browser") from None
        return message if isinstance(message, dict) else {}
