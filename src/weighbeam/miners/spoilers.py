"""Hostile replies below the handler: noise instead of JSON, and an old signed reply sent again."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
NOISE = bytes(range(256)) * 16


def spoil_replies(trick: str, app: App, mechanism: str) -> App:
    """The app as a hostile miner serves it: `replayer` and `noise` spoil the mechanism's replies, others leave them."""
    if trick not in SPOILERS:
        return app
    spoiled, path = SPOILERS[trick](app), f"/weighbeam/1/{mechanism}/ask"

    async def serve(scope: Any, receive: Receive, send: Send) -> None:
        await (spoiled if scope.get("path") == path else app)(scope, receive, send)

    return serve


def _replay(app: App) -> App:
    """The first good reply is kept, signature and all, and sent as the answer to everything."""
    kept: list[Message] = []

    async def replaying(scope: Any, receive: Receive, send: Send) -> None:
        if kept:
            for message in kept:
                await send(message)
            return
        heard: list[Message] = []

        async def listen(message: Message) -> None:
            heard.append(message)
            await send(message)

        await app(scope, receive, listen)
        if heard and heard[0].get("status") == 200:
            kept.extend(heard)

    return replaying


def _make_noise(app: App) -> App:
    """Reply with headers, then bytes that are not an answer."""

    async def noisy(scope: Any, receive: Receive, send: Send) -> None:
        async def spoil(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, value) for name, value in message["headers"] if name != b"content-length"]
                await send({**message, "headers": [*headers, (b"content-length", str(len(NOISE)).encode())]})
            else:
                await send({**message, "body": NOISE})

        await app(scope, receive, spoil)

    return noisy


SPOILERS: dict[str, Callable[[App], App]] = {"replayer": _replay, "noise": _make_noise}
