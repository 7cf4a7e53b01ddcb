"""What a service that others reach tells whoever shows nothing, and that who only reads takes nothing from others."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from network.loopback import ALICE, serve_app
from service.holders import bear, place
from weighbeam.app.service.access import open_access
from weighbeam.app.service.apps import load_runs, make_app
from weighbeam.app.settings.sources import load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.service.app import report_health
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.metrics import count_store
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.service.pages import static_files
from weighbeam.service.pages.static_files import list_files
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Open:
    client: httpx2.Client
    store: Store
    pools: ThreadPools


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """As it is put together where others reach it."""
    folder = tmp_path_factory.mktemp("closed")
    (folder / "weighbeam.toml").write_text('[wallet]\nuri = "//Alice"\n[mechanisms.chunking]\n')
    loaded, store, pools = (
        load_settings(folder / "weighbeam.toml", {}),
        Store(f"sqlite:///{folder / 'j.db'}"),
        ThreadPools(),
    )
    for name, scopes in (("reader", ("read",)), ("app", ("ask",)), ("boss", ("admin",))):
        place(store, name, scopes)
    registry, runs = CollectorRegistry(), load_runs(loaded)
    count_store(registry, store, [mechanism for mechanism, _ in runs.values()])
    access = open_access(loaded, store, ALICE.address, "0.0.0.0:0", pools)
    app = make_app(access, store, ALICE, time.time, registry, lambda: report_health(pools.submissions), runs)
    with serve_app(app) as endpoint, httpx2.Client(base_url=f"http://{endpoint}", timeout=30) as client:
        yield Open(client, store, pools)
    pools.close()
    store.close()


@pytest.mark.parametrize(
    "path", ["/", "/rounds", "/weights", "/ask", "/v1/rounds", "/v1/config", "/v1/events", "/v1/requests", "/metrics"]
)
def test_nothing_is_read_without_a_token(closed: Open, path: str) -> None:
    refused = closed.client.get(path, headers={"Host": "localhost"})
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer" if path.startswith("/v1/") else "Basic")


def test_how_it_is_may_be_asked_by_all_and_numbers_by_who_may_read(closed: Open) -> None:
    for path in ("/health", "/v1/health", "/openapi.json", f"/static/{list_files()['style.css']}"):
        assert closed.client.get(path).status_code == 200
    assert closed.client.get("/metrics", headers=bear("app")).status_code == 403
    for name in ("reader", "boss"):
        told = closed.client.get("/metrics", headers=bear(name))
        assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert 'weighbeam_requests_waiting{mechanism="chunking"} 0.0' in told.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/rounds", 401), ("/metrics", 401), ("/nowhere", 404), ("/static/x", 404),
        ("/static/../../etc/passwd", 404), ("/health", 200), ("/v1/requests/organic-1", 401),
        ("/", 401), ("/rounds/%2e%2e%2fx", 401),
    ],
)  # fmt: skip
def test_every_answer_says_that_it_is_nothing_else(closed: Open, path: str, status: int) -> None:
    told = closed.client.get(path)
    assert told.status_code == status
    assert told.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in told.headers["Content-Security-Policy"]
    assert told.headers["Cache-Control"] in ("no-store", "no-cache")


def test_a_method_that_is_not_taken_is_told_which_is(closed: Open) -> None:
    refused = closed.client.delete("/v1/rounds", headers=bear("boss"))
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET")


def test_nobody_is_sent_elsewhere_with_a_token(closed: Open) -> None:
    """A redirect would name whatever host and scheme the request did, and clients would show their token there."""
    moved = closed.client.get("/v1/rounds/", headers={**bear("reader"), "Host": "evil.example"})
    assert (moved.status_code, "Location" in moved.headers) == (404, False)


@pytest.mark.parametrize("more", [{}, bear("nobody"), bear("reader"), {"X-Bittensor-Signature": "0x"}])
def test_the_body_of_who_may_not_ask_is_not_waited_for(closed: Open, more: dict[str, str]) -> None:
    """Of a stranger's megabytes none is kept; whoever has a token alone is read from."""
    where = closed.client.base_url
    shown = "".join(f"{name}: {value}\r\n" for name, value in more.items())
    head = f"POST /v1/chunking/requests HTTP/1.1\r\nHost: localhost\r\n{shown}Content-Length: 8000000\r\n\r\n"
    with socket.create_connection((where.host, where.port or 80), timeout=30) as stranger:
        stranger.sendall(head.encode())
        if more == bear("reader"):
            stranger.settimeout(0.5)
            with pytest.raises(TimeoutError):
                stranger.recv(100)
        else:
            assert stranger.recv(100).startswith(b"HTTP/1.1 401")


def test_the_chart_library_is_made_once_however_many_ask_first(
    closed: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(static_files, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(static_files, "make_bundle", lambda: made.append(time.sleep(0.3)) or b"chart()")
    static_files.find_static_file.cache_clear()
    with ThreadPoolExecutor(12) as threads:
        path = f"/static/{list_files()['vega.js']}"
        told = list(threads.map(lambda _: closed.client.get(path).text, range(12)))
    assert (set(told), len(made)) == ({"chart()"}, 1)
    for kept in (static_files.find_static_file, static_files._load_cached_bundle):
        kept.cache_clear()


def test_what_went_wrong_is_told_without_where(closed: Open) -> None:
    Alerts(closed.store, time.time).tell("few_documents", "warning", "/srv/ada/tasks holds 3 documents", "chunking")
    for path in ("/v1/alerts", "/v1/overview", "/"):
        told = closed.client.get(path, headers=bear("boss")).text
        assert "tasks holds 3 documents" in told
        assert "/srv" not in told


def test_a_fault_of_our_own_is_told_to_the_log_alone(closed: Open, caplog: pytest.LogCaptureFixture) -> None:
    pipeline = RequestPipeline(
        Authenticator(ALICE.address, TokenKeyring(closed.store), RateLimits()), 0, {"artifact_fault": 503}
    )
    for code in ("store_fault", "artifact_fault"):
        fault = WeighbeamError(code, "connection to server at 10.0.0.7 failed for user ada", "check /srv/ada")
        told = pipeline.refuse(fault, "/v1/rounds")
        assert (told.status, told.headers["Retry-After"]) == (503, "5")
        assert "ada" not in str(told.content)
        assert "10.0.0.7" in caplog.text
        caplog.clear()
    assert (
        pipeline.refuse(WeighbeamError("busy", "too much waits", "later"), "/").content["message"] == "too much waits"
    )


def test_however_many_read_what_is_handed_in_is_taken(closed: Open) -> None:
    free = threading.Event()
    steps = [closed.pools.reading.run(free.wait) for _ in range(closed.pools.reading.limit)]
    threads = [threading.Thread(target=asyncio.run, args=(step,)) for step in steps]
    try:
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 10
        while closed.pools.reading.inside < closed.pools.reading.limit and time.monotonic() < deadline:
            time.sleep(0.01)
        assert closed.client.get("/v1/rounds", headers=bear("reader")).status_code == 503
        asked = closed.client.post("/v1/chunking/requests", json={"document": "One. Two."}, headers=bear("app"))
        assert asked.status_code == 202
        assert closed.client.get("/metrics", headers=bear("reader")).status_code == 200
    finally:
        free.set()
        for thread in threads:
            thread.join(10)


def test_a_store_whose_connections_are_all_in_use_is_a_fault_with_a_remedy(tmp_path: Path) -> None:
    """Anything else would end a validator's loops."""
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    store.engine.pool._timeout = 0.05
    with ExitStack() as held:
        for _ in range(30):
            held.enter_context(store.read())
        with pytest.raises(WeighbeamError, match=r"store_fault.*in use"), store.read():
            pass
    store.close()
