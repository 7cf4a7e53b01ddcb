"""HTTP in numbers, for Prometheus: by route template, never by path, so that no caller can grow `/metrics`."""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STREAM = b"text/event-stream"


class RequestCounts:
    """Counts of requests to this process since it started."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "weighbeam_http_requests",
            "requests by route, method and class of status",
            ["route", "method", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "weighbeam_http_request_seconds",
            "time until the answer began, by route",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self.streams = Gauge("weighbeam_http_streams_open", "live streams open", registry=registry)


class TimedRequest:
    """One request on its way."""

    def __init__(self, counts: RequestCounts, send: Send) -> None:
        self._counts = counts
        self._send = send
        self._began = time.perf_counter()
        self._seconds: float | None = None
        self._streams = False
        self.status = "none"

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = f"{int(message['status']) // 100}xx"
            self._seconds = time.perf_counter() - self._began
            self._streams = any(
                name.lower() == b"content-type" and value.startswith(STREAM)
                for name, value in message.get("headers", ())
            )
            self._counts.streams.inc(self._streams)
        await self._send(message)

    def end(self, scope: Scope) -> None:
        route, method = name_route(scope), str(scope["method"])
        self._counts.streams.dec(self._streams)
        self._counts.requests.labels(route, method if method in METHODS else "other", self.status).inc()
        self._counts.seconds.labels(route).observe(
            time.perf_counter() - self._began if self._seconds is None else self._seconds
        )


class RequestMetricsMiddleware:
    """The middleware: `none` is the status of a request that ended before any answer began."""

    def __init__(self, app: App, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = TimedRequest(self._counts, send)
        try:
            await self._app(scope, receive, asked.send)
        except Exception:
            asked.status = "5xx"
            raise
        finally:
            asked.end(scope)


def name_route(scope: Scope) -> str:
    """The template that took the request; `unknown` if none did.

    >>> name_route({"type": "http"})
    'unknown'
    """
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else "unknown"
