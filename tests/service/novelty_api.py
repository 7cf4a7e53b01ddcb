"""The novelty API on loopback, over a real desk with the real embedder."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from prometheus_client import CollectorRegistry

from mechanisms.novelty.desk.books import check_books
from network.loopback import ALICE, BOB, open_nonces, serve_app
from service.holders import bear, place
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.handlers import SIGNER, NoveltyApi
from weighbeam.mechanisms.novelty.service.routes import add_novelty
from weighbeam.network.keys import Hotkey
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.network.signing_dialects import Btauth, OutgoingRequest
from weighbeam.senses.ports.protocols import Senses
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import AllowedSigners, Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import BoundedThreadPool, ThreadPools
from weighbeam.store.database import Store

OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry them apart."
BRIDGE = "A steel bridge is thirty centimetres longer in summer than in the coldest night of winter."
BREAD = "Bread dough that rests overnight in a refrigerator tastes of more than flour and yeast."
NOISE = "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"
SCOPES = ("check", "submit", "read", "operate")
HOLDERS = {"app": SCOPES, "other": SCOPES, **{f"only-{scope}": (scope,) for scope in SCOPES}}


class Api:
    """A client of one server; calls are the app's unless told otherwise."""

    def __init__(self, url: str, desk: NoveltyDesk, pools: ThreadPools) -> None:
        self.url, self.desk, self.pools = url, desk, pools
        self.client = httpx2.Client(base_url=url, timeout=30, limits=httpx2.Limits(max_connections=100))

    def post(self, path: str, content: Any = b"", token: str | None = "app", **headers: str) -> httpx2.Response:
        shown = bear(token) if token is not None else {}
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.client.post(f"/v1/novelty{path}", content=body, headers={**shown, **headers})

    def get(self, path: str, token: str = "app") -> httpx2.Response:
        return self.client.get(f"/v1/novelty{path}", headers=bear(token))

    def submit(self, contributor: str, text: str, token: str = "app", **more: Any) -> httpx2.Response:
        return self.post("/contributions", {"contributor": contributor, "text": text, **more}, token)

    def balance(self, contributor: str, token: str = "app") -> httpx2.Response:
        return self.get(f"/contributors/{quote(contributor, safe='')}", token)

    def sign(self, hotkey: Hotkey, method: str, path: str, content: Any = None) -> httpx2.Response:
        """A signed call."""
        target, body = f"/v1/novelty{path}", b"" if content is None else json.dumps(content).encode()
        outgoing = OutgoingRequest(method, target, body, str(time.time_ns()), ALICE.address)
        headers = Btauth().sign(hotkey, outgoing).headers
        return self.client.request(method, target, content=body, headers=headers)

    def faults(self) -> list[str]:
        with self.desk.store.read() as connection:
            return list(check_books(connection))


@contextmanager
def open_api(
    folder: Path,
    senses: Senses,
    params: NoveltyParams | None = None,
    limits: PayLimits | None = None,
    pool: BoundedThreadPool | None = None,
    pace: float = 60_000,
) -> Iterator[Api]:
    store = Store(f"sqlite:///{folder / 'novelty.db'}")
    desk = open_desk(store, senses, ALICE, params, limits)
    pools, registry = ThreadPools(pool or BoundedThreadPool(), BoundedThreadPool(2)), CollectorRegistry()
    app = make_service_app(pools.submissions, registry)
    for name, scopes in HOLDERS.items():
        place(store, name, scopes)
    signing = SenderPolicy(PolicySettings(allow=frozenset({BOB.address}), per_minute=6000, burst=100))
    signers = AllowedSigners(signing, open_nonces(folder / "nonces.sqlite"), SIGNER)
    authenticator = Authenticator(ALICE.address, TokenKeyring(store), RateLimits(), pace, signers)
    add_novelty(app, authenticator, NoveltyApi(desk, time.time), pools, registry)
    with serve_app(app) as endpoint:
        yield Api(f"http://{endpoint}", desk, pools)
    pools.close()
    store.close()
