"""The organic API on loopback, over the store of a validator."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
from prometheus_client import CollectorRegistry

from network.loopback import ALICE, serve_app
from service.holders import bear, place
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.service.api.request_handlers import RequestApi
from weighbeam.service.api.request_routes import add_organic
from weighbeam.service.api.request_streams import RequestStreams
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

MECHANISMS = ("chunking", "inference", "evidence", "keyword-recall")
HOLDERS: Mapping[str, Mapping[str, Any]] = {
    "app": {"scopes": ("ask",)},
    "other": {"scopes": ("ask", "read")},
    "reader": {"scopes": ("read",)},
    "urgent": {"scopes": ("ask",), "priority": 1},
    "quiet": {"scopes": ("ask",), "unranked": True},
    "boss": {"scopes": ("admin",), "priority": 1},
}


class Api:
    """A client of one server; calls are the app's unless told otherwise."""

    def __init__(self, url: str, store: Store, watch: RequestStreams) -> None:
        self.url, self.store, self.watch = url, store, watch
        self.client = httpx2.Client(base_url=url, timeout=30, limits=httpx2.Limits(max_connections=100))

    def ask(self, content: Any, token: str = "app", mechanism: str = "chunking", **headers: str) -> httpx2.Response:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        shown = {**bear(token), **headers}
        return self.client.post(f"/v1/{mechanism}/requests", content=body, headers=shown)

    def get(self, path: str, token: str = "app") -> httpx2.Response:
        return self.client.get(path, headers=bear(token))

    def look(self, request: str, token: str = "app") -> dict[str, Any]:
        return dict(self.get(f"/v1/requests/{request}", token).json())

    def cancel(self, request: str, token: str = "app") -> httpx2.Response:
        return self.client.delete(f"/v1/requests/{request}", headers=bear(token))

    def follow(self, request: str, token: str = "app") -> Iterator[tuple[str, Any]]:
        """The events of a stream, heartbeats too, until it ends."""
        with self.client.stream("GET", f"/v1/requests/{request}/events", headers=bear(token)) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream"), stream.read()
            name = ""
            for line in stream.iter_lines():
                if line.startswith(":"):
                    yield "beat", None
                elif line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))


@contextmanager
def open_api(store: Store, streams: int = 20, beat: float = 15.0, pace: float = 60_000) -> Iterator[Api]:
    for name, given in HOLDERS.items():
        place(store, name, **given)
    pools = ThreadPools()
    app = make_service_app(pools.submissions, CollectorRegistry())
    asked = {name: load_mechanism(name) for name in MECHANISMS}
    api = RequestApi(store, {name: (one, make_params(one)) for name, one in asked.items()}, time.time)
    authenticator = Authenticator(ALICE.address, TokenKeyring(store), RateLimits(), pace, reading="local")
    watch = add_organic(app, authenticator, api, pools, streams)
    watch.beat = beat
    with serve_app(app) as endpoint:
        yield Api(f"http://{endpoint}", store, watch)
    pools.close()


def said(reply: httpx2.Response) -> tuple[int, str]:
    content = reply.json()
    assert set(content) == {"error", "message", "remedy"}
    assert all(content.values())
    return reply.status_code, content["error"]
