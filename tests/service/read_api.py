"""A reading API on loopback over a small real journal, for tests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from engine.organic_round import RECALL, START, play_organic
from engine.recall import PARAMS, play
from network.loopback import ALICE, ROOMY, serve_app
from service.holders import bear, place
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.narrative import name_heatmap
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.rules.intents import WeightsPlan
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.service.api.mcp import MAX_BODY, add_mcp
from weighbeam.service.api.reader import ReadingContext
from weighbeam.service.api.reading import add_reading
from weighbeam.service.app import make_service_app, report_health
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store import tables
from weighbeam.store.artifacts import open_artifacts
from weighbeam.store.database import Store

NAME = RECALL.name
PNG = b"\x89PNG\r\n\x1a\nnot much of a picture"
TOKENS = (("reader", ("read",)), ("app", ("ask", "read")), ("boss", ("admin",)), ("asker", ("ask",)))


@dataclass(frozen=True, slots=True)
class Api:
    url: str
    store: Store

    def get(self, path: str, token: str | None = "reader", **headers: str) -> httpx2.Response:
        shown = {} if token is None else bear(token)
        return httpx2.get(f"{self.url}{path}", headers={**shown, **headers}, timeout=30)

    def refuse(self, path: str, token: str | None = "reader") -> tuple[int, str]:
        refused = self.get(path, token)
        return refused.status_code, refused.json()["error"]


def fill(store: Store, folder: Path) -> None:
    """Three rounds, one of them a user's, a picture, an alert, a submission."""
    journal = Journal(store)
    for number in range(2):
        play(journal, RECALL, number, START + number * 300, {"a": "tide moon", "b": "tide", "c": None})
    play_organic(journal, "mine")
    play_organic(journal, "open", commit=False)
    Alerts(store, lambda: START).tell("clock_skew", "warning", "<b>late</b>", NAME)
    holders = (("a", 1), ("b", 1))
    plan = WeightsPlan((1, 2), (65535, 100), holders, 0, 8, 1, 0, False, 1, "NORMAL", "0" * 64, "0" * 64)
    Ledger(store, NAME).plan(plan, START)
    round_id = f"{NAME}-1"
    kept = open_artifacts(str(folder / "artifacts")).put(name_heatmap(round_id), PNG, "image/png")
    row = {"round": round_id, "kind": "heatmap", "at": START, "value": kept, "maker": ""}
    with store.write() as connection:
        connection.execute(tables.extras.insert().values(**row))


@contextmanager
def serve_reading(folder: Path, **more: Any) -> Iterator[Api]:
    store, pools = Store(f"sqlite:///{folder / 'journal.db'}"), ThreadPools()
    for name, scopes in TOKENS:
        place(store, name, scopes)
    fill(store, folder)
    app = make_service_app(pools.submissions, more.pop("registry"))
    authenticator = Authenticator(
        ALICE.address,
        TokenKeyring(store),
        RateLimits(),
        more.pop("per_minute", 60_000),
        reading=more.pop("reading", "closed"),
    )
    shown = ReadingContext(
        store=store,
        mechanisms={NAME: (RECALL, PARAMS)},
        averaging=Averaging(),
        artifacts=open_artifacts(str(folder / "artifacts")),
        hotkey=ALICE,
        now=time.time,
        settings=lambda: [{"name": "wallet.uri", "value": "********", "origin": "default"}],
        health=lambda: report_health(pools.submissions),
    )
    add_reading(app, authenticator, shown, pools, more.pop("streams", 4))
    add_mcp(app, RequestPipeline(replace(authenticator, rate_limits=RateLimits()), MAX_BODY, {}))
    with serve_app(app, ROOMY) as endpoint:
        yield Api(f"http://{endpoint}", store)
    pools.close()
    store.close()
