"""Tokens over real HTTP: made once, kept as hashes, live until they end; and who may do what with which."""

import base64
import json
import sqlite3
import string
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from typer.testing import CliRunner

from network.loopback import ALICE, serve_app
from weighbeam.cli.main import app as cli
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.requests.tokens import Grant, list_tokens, make_token, revoke_token, select_token, split_token
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import (
    FRESH_SECONDS,
    Authenticator,
    ReadAccess,
    TokenKeyring,
    parse_authorization,
)
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

SITE = "https://app.example"


def add_echo(app: FastAPI, authenticator: Authenticator) -> None:
    """Something to read and something to do, and a page."""
    pipeline = RequestPipeline(authenticator, 1 << 10, {})

    def tell(scope: str) -> Any:
        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            caller.check(scope)
            return 200, {"caller": caller.name, "priority": caller.priority, "unranked": caller.unranked}

        return work

    @app.get("/page")
    @app.get("/v1/thing")
    @app.head("/v1/thing")
    async def read(request: Request) -> Response:
        return await pipeline.answer(request, tell("read"))

    @app.get("/v1/own")
    @app.post("/v1/thing")
    async def ask(request: Request) -> Response:
        return await pipeline.answer(request, tell("ask"))


@contextmanager
def open_server(store: Store, reading: ReadAccess = "closed", now: Any = time.time) -> Iterator[httpx2.Client]:
    pools = ThreadPools()
    app = make_service_app(pools.submissions, CollectorRegistry(), (SITE,))
    add_echo(app, Authenticator(ALICE.address, TokenKeyring(store, now), RateLimits(), 6000, reading=reading))
    with serve_app(app) as endpoint, httpx2.Client(base_url=f"http://{endpoint}", timeout=30) as client:
        yield client
    pools.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path_factory.mktemp('tokens') / 'store.db'}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def client(store: Store) -> Iterator[httpx2.Client]:
    with open_server(store) as opened:
        yield opened


def bear(shown: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {shown}"}


def basic(user: str, shown: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{shown}".encode()).decode()}


def said(reply: httpx2.Response) -> tuple[int, str]:
    return reply.status_code, reply.json().get("error", "")


def test_a_token_is_shown_once_and_its_secret_kept_nowhere(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    token, shown = make_token(store, Grant("app", ["ask", "read"], 30.0, 1, True, 2), 1000.0)
    parts = split_token(shown)
    assert parts is not None
    assert (parts[0], token.expires) == (token.id, 1000.0 + 2 * 86_400)
    assert select_token(store, token.id) == token == list_tokens(store)[0]
    with pytest.raises(WeighbeamError, match="token_exists"):
        make_token(store, Grant("app", ["read"]), 1001.0)
    assert make_token(store, Grant("app", ["read"]), 1000.0 + 3 * 86_400)[0].name == "app"
    store.close()
    assert not any(parts[1].encode() in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("grant", "code"),
    [
        (Grant("", ["ask"]), "bad_token_name"),
        (Grant("a b", ["ask"]), "bad_token_name"),
        (Grant("a" * 65, ["ask"]), "bad_token_name"),
        (Grant("a\n", ["ask"]), "bad_token_name"),
        (Grant("a", []), "bad_scope"),
        (Grant("a", ["everything"]), "bad_scope"),
        (Grant("a", ["ask"], per_minute=0), "bad_usage"),
        (Grant("a", ["ask"], days=float("nan")), "bad_usage"),
    ],
)
def test_what_is_no_token_is_not_made(store: Store, grant: Grant, code: str) -> None:
    before = len(list_tokens(store))
    with pytest.raises(WeighbeamError, match=code):
        make_token(store, grant, 1.0)
    assert len(list_tokens(store)) == before


def test_a_scope_opens_what_it_is_for_and_nothing_else(store: Store, client: httpx2.Client) -> None:
    for scopes, may_read, may_ask in ((["read"], 200, 403), (["ask"], 403, 200), (["admin"], 200, 200)):
        token, shown = make_token(store, Grant(f"may-{scopes[0]}", scopes, priority=1, unranked=True), time.time())
        read, ask = client.get("/v1/thing", headers=bear(shown)), client.post("/v1/thing", headers=bear(shown))
        assert (read.status_code, ask.status_code) == (may_read, may_ask)
        for reply in (read, ask):
            if reply.status_code == 200:
                assert reply.json() == {"caller": f"token:{token.name}", "priority": 1, "unranked": True}
            else:
                assert said(reply) == (403, "missing_scope")


def test_a_revoked_token_opens_nothing_without_any_restart(store: Store, client: httpx2.Client) -> None:
    token, shown = make_token(store, Grant("leaver", ["read"]), time.time())
    assert client.get("/v1/thing", headers=bear(shown)).status_code == 200
    revoked = revoke_token(store, token.id, time.time())
    deadline = time.monotonic() + FRESH_SECONDS + 2
    while client.get("/v1/thing", headers=bear(shown)).status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert said(client.get("/v1/thing", headers=bear(shown))) == (401, "bad_token")
    assert revoke_token(store, token.id, time.time() + 9).revoked == revoked.revoked
    assert make_token(store, Grant("leaver", ["read"]), time.time())[0].id != token.id
    with pytest.raises(WeighbeamError, match="unknown_token"):
        revoke_token(store, "ffffffff", 1.0)


def test_a_token_ends_on_its_day(store: Store) -> None:
    at = [5_000.0]
    with open_server(store, now=lambda: at[0]) as client:
        _, shown = make_token(store, Grant("guest", ["read"], days=1), at[0])
        for later, status in ((86_399.0, 200), (86_400.0, 401)):
            at[0] = 5_000.0 + later
            assert client.get("/v1/thing", headers=bear(shown)).status_code == status


@pytest.mark.parametrize("spoil", [
    lambda shown: shown[:-1], lambda shown: shown + "A", lambda shown: shown.upper(), lambda shown: f"{shown} {shown}",
    lambda shown: shown.replace("wb_", "WB_"), lambda shown: f"wb_00000000_{shown[12:]}", lambda _: "wb_" * 4000,
    lambda shown: shown[:12] + ("B" if shown[12] != "B" else "C") + shown[13:], lambda _: "-",
])  # fmt: skip
def test_what_is_nearly_a_token_is_none(store: Store, client: httpx2.Client, spoil: Any) -> None:
    name = f"near-{len(list_tokens(store))}"
    _, shown = make_token(store, Grant(name, ["read"]), time.time())
    reply = client.get("/v1/thing", headers=bear(spoil(shown)))
    assert said(reply) == (401, "bad_token")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    twice = [("Authorization", f"Bearer {shown}")] * 2
    assert said(client.get("/v1/thing", headers=twice)) == (401, "bad_token")
    assert said(client.get(f"/v1/thing?token={shown}&access_token={shown}")) == (401, "bad_token")


@given(st.text(string.printable, max_size=80), st.sampled_from(["GET", "POST"]))
def test_no_header_breaks_the_reading_of_it(text: str, method: str) -> None:
    for kind in ("", "Basic ", "Bearer ", "basic  "):
        assert isinstance(parse_authorization([kind + text], method), str)


def test_a_browser_may_show_it_as_a_password_to_look_but_not_to_act(store: Store, client: httpx2.Client) -> None:
    _, shown = make_token(store, Grant("browser", ["read", "ask"]), time.time())
    page = client.get("/page")
    assert (page.status_code, page.headers["WWW-Authenticate"][:22]) == (401, 'Basic realm="weighbeam')
    for user in ("", "anything"):
        assert client.get("/page", headers=basic(user, shown)).status_code == 200
    assert client.head("/v1/thing", headers=basic("a", shown)).status_code == 200
    assert said(client.post("/v1/thing", headers=basic("a", shown))) == (401, "bad_token")
    assert client.post("/v1/thing", headers=bear(shown)).status_code == 200
    for wrong in (basic("a", shown[:-1]), basic(shown, ""), {"Authorization": "Basic !"}, {"Authorization": "Basic"}):
        assert said(client.get("/page", headers=wrong)) == (401, "bad_token")
    assert "set-cookie" not in client.get("/page", headers=basic("a", shown)).headers


def test_reading_is_open_to_this_machine_by_its_own_names_alone(store: Store) -> None:
    with open_server(store, "local") as client:
        assert client.get("/v1/thing").json()["caller"] == "anyone"
        assert client.get("/v1/thing", headers={"Host": "localhost:1"}).status_code == 200
        assert said(client.get("/v1/thing", headers={"Host": "rebound.example"})) == (401, "bad_token")
        for host in ("[::1].rebound.example", "127.0.0.1:80/v1/config?", "localhost:80@rebound.example"):
            assert said(client.get("/v1/thing", headers={"Host": host})) == (401, "bad_token")
        assert said(client.get("/v1/own")) == (401, "bad_token")
        assert said(client.post("/v1/thing")) == (401, "bad_token")
        assert said(client.get("/v1/thing", headers=bear("wb_x"))) == (401, "bad_token")
    with open_server(store, "public") as client:
        assert client.get("/v1/thing", headers={"Host": "rebound.example"}).json()["caller"] == "anyone"
        assert said(client.post("/v1/thing")) == (401, "bad_token")


def test_a_token_has_its_own_pace_and_is_told_when_to_come_again(store: Store, client: httpx2.Client) -> None:
    _, slow = make_token(store, Grant("slow", ["read"], per_minute=2), time.time())
    _, other = make_token(store, Grant("other", ["read"]), time.time())
    replies = [client.get("/v1/thing", headers=bear(slow)) for _ in range(11)]
    assert [reply.status_code for reply in replies] == [200] * 10 + [429]
    assert said(replies[10]) == (429, "rate_limited")
    assert 20 <= int(replies[10].headers["Retry-After"]) <= 30
    assert client.get("/v1/thing", headers=bear(other)).status_code == 200


def test_only_sites_that_are_named_may_call_and_never_with_cookies(client: httpx2.Client) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    allowed = client.options("/v1/thing", headers={"Origin": SITE, **asked})
    assert allowed.headers["Access-Control-Allow-Origin"] == SITE
    assert "Access-Control-Allow-Credentials" not in allowed.headers
    foreign = client.options("/v1/thing", headers={"Origin": "https://evil.example", **asked})
    assert (foreign.status_code, "Access-Control-Allow-Origin" in foreign.headers) == (400, False)
    assert "Access-Control-Allow-Origin" not in client.get("/page", headers={"Origin": "https://evil.example"}).headers
    deleting = client.options("/v1/thing", headers={"Origin": SITE, **asked, "Access-Control-Request-Method": "DELETE"})
    assert deleting.status_code == 400


def test_a_store_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    _, shown = make_token(store, Grant("app", ["read"]), time.time())
    with open_server(store) as client:
        with sqlite3.connect(tmp_path / "store.db") as other:
            other.execute("DROP TABLE tokens")
        assert said(client.get("/v1/thing", headers=bear(shown))) == (503, "store_fault")
    store.close()


def test_the_command_makes_lists_and_revokes(tmp_path: Path) -> None:
    config = tmp_path / "weighbeam.toml"
    config.write_text("")

    def run(*words: str) -> tuple[int, Any]:
        done = CliRunner().invoke(cli, ["serve", "token", *words, "--json", "--config", str(config)])
        return done.exit_code, json.loads(done.stdout)

    made = run("new", "--name", "app", "--scope", "ask", "--scope", "read", "--priority", "high", "--expires-days", "1")
    assert made[0] == 0
    shown, token_id = made[1].pop("token"), made[1]["id"]
    assert split_token(shown) is not None
    assert run("list") == (0, {"tokens": [made[1]]})
    assert (made[1]["state"], made[1]["priority"], made[1]["scopes"]) == ("live", "high", ["ask", "read"])
    assert run("new", "--name", "app", "--scope", "ask")[1]["error"] == "token_exists"
    assert run("revoke", token_id)[1]["state"] == "revoked"
    assert run("revoke", "nothing")[1]["error"] == "unknown_token"
    assert run("list")[1]["tokens"][0]["state"] == "revoked"


def test_tokens_that_open_nothing_are_paced(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """By address; a token that was good before is not cut off by others that call from there."""
    monkeypatch.setattr("weighbeam.service.http.authentication.UNPROVEN_PER_MINUTE", 60.0, raising=False)
    _, good = make_token(store, Grant("behind-a-proxy", ["read"]), time.time())
    made_up = bear(f"wb_{'0' * 8}_{'x' * 43}")
    with open_server(store) as client:
        assert client.get("/v1/thing", headers=bear(good)).status_code == 200
        assert [client.get("/v1/thing", headers=made_up).status_code for _ in range(10)] == [401] * 10
        time.sleep(FRESH_SECONDS + 0.1)
        late = next(reply for reply in (client.get("/v1/thing", headers=made_up) for _ in range(500)) if is_late(reply))
        assert (said(late), late.headers["Retry-After"]) == ((429, "rate_limited"), "1")
        assert client.get("/v1/thing", headers=bear(good)).status_code == 200
        wrong = [client.get("/v1/thing", headers=bear(good[:-1] + end)) for end in "abcd"]
        assert sum(map(is_late, wrong)) >= 2


def is_late(reply: httpx2.Response) -> bool:
    return reply.status_code == 429


def test_tokens_that_are_good_cost_their_address_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.service.http.authentication.UNPROVEN_PER_MINUTE", 6.0)
    shown = [make_token(store, Grant(f"one-of-many-{number}", ["read"]), time.time())[1] for number in range(30)]
    with open_server(store) as client:
        assert {client.get("/v1/thing", headers=bear(token)).status_code for token in shown} == {200}
