"""The challenge API over real HTTP: who may push, what is accepted, what comes back."""

import json
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from network.loopback import ALICE, BOB, CHARLIE, open_nonces, serve_app
from service.holders import bear, place, show
from weighbeam.engine.requests.organic import fail_request, has_waiting, take_next
from weighbeam.mechanism.params import make_params
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.network.signing_dialects import Btauth, OutgoingRequest
from weighbeam.service.api.challenges import ChallengeContext, add_challenges
from weighbeam.service.http.authentication import AllowedSigners, Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

INFERENCE = Inference()
ASKED = {"id": "c-1", "prompt": "Why do tides rise?", "metadata": {"user": 7}}


class Api:
    def __init__(self, url: str, store: Store) -> None:
        self.url, self.store = url, store

    def push(self, content: Any, token: str | None = "app", **headers: str) -> httpx2.Response:
        shown = bear(token) if token is not None else {}
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.post(f"{self.url}/v1/challenges", content=body, headers={**shown, **headers}, timeout=30)

    def look(self, path: str, token: str = "app") -> httpx2.Response:
        return httpx2.get(f"{self.url}{path}", headers=bear(token))


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    app = FastAPI()
    for name, scopes in (("app", ("ask", "read")), ("other", ("ask",)), ("reader", ("read",))):
        place(store, name, scopes)
    policy, pools = (
        SenderPolicy(PolicySettings(allow=frozenset({BOB.address}), per_minute=6000, burst=50)),
        ThreadPools(),
    )
    signers = AllowedSigners(policy, open_nonces(tmp_path / "nonces.sqlite"), frozenset({"ask", "read"}))
    authenticator = Authenticator(ALICE.address, TokenKeyring(store), RateLimits(), 6000, signers)
    add_challenges(app, authenticator, ChallengeContext(store, INFERENCE, make_params(INFERENCE), time.time), pools)
    with serve_app(app) as endpoint:
        yield Api(f"http://{endpoint}", store)
    pools.close()
    store.close()


def test_a_challenge_is_accepted_once_and_can_be_followed(api: Api) -> None:
    first, again = api.push(ASKED), api.push(ASKED)
    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert first.json()["status_url"] == "/v1/challenges/c-1"
    where = api.look(first.json()["status_url"])
    assert where.json() == {"id": "c-1", "mechanism": "inference", "state": "waiting", "metadata": {"user": 7}}
    taken = take_next(api.store, "inference", "r1", 0.0)
    assert taken is not None
    assert taken.task.body == {"prompt": ASKED["prompt"]}
    assert not has_waiting(api.store, "inference")
    fail_request(api.store, taken.id, "r1", "no_valid_answer", "nobody")
    assert api.look("/v1/challenges/c-1").json()["result"]["error"] == "no_valid_answer"
    assert api.push(ASKED).json()["state"] == "failed"


def test_the_same_id_for_something_else_is_refused(api: Api) -> None:
    api.push(ASKED)
    other = api.push({**ASKED, "prompt": "Why not?"})
    assert (other.status_code, other.json()["error"]) == (409, "challenge_differs")
    assert api.push({**ASKED, "prompt": "Why not?"}, token="other").status_code == 202


def test_nobody_sees_the_challenges_of_another(api: Api) -> None:
    api.push(ASKED)
    assert api.look("/v1/challenges/c-1", token="other").status_code == 404
    assert api.look("/v1/challenges/never").status_code == 404


@pytest.mark.parametrize(
    "token", ["wrong", "-", f"{show('app')} {show('app')}", f"{show('app')}\u00e9", show("nobody"), show("app")[:-1]]
)
def test_a_wrong_token_opens_nothing(api: Api, token: str) -> None:
    refused = httpx2.post(
        f"{api.url}/v1/challenges", json=ASKED, headers=[(b"Authorization", f"Bearer {token}".encode("latin-1"))]
    )
    assert (refused.status_code, refused.json()["error"]) == (401, "bad_token")
    assert not has_waiting(api.store, "inference")


def sign(hotkey: Any, body: bytes, receiver: str = ALICE.address, target: str = "/v1/challenges") -> dict[str, str]:
    return Btauth().sign(hotkey, OutgoingRequest("POST", target, body, str(time.time_ns()), receiver)).headers


def test_a_known_hotkey_may_sign_instead_and_nobody_else(api: Api) -> None:
    body = json.dumps(ASKED).encode()
    signed = sign(BOB, body)
    assert api.push(body, None, **signed).status_code == 202
    assert api.push(body, None, **signed).json()["error"] == "replayed"
    assert api.push(body, None, **sign(CHARLIE, body)).status_code == 403
    assert api.push(body, None, **sign(BOB, body, CHARLIE.address)).json()["error"] == "wrong_receiver"
    assert api.push(body.replace(b"tides", b"tired"), None, **sign(BOB, body)).json()["error"] == "bad_signature"
    assert api.push(body, None).status_code == 401


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "malformed"),
        (b"[1", "malformed"),
        (b'{"id": NaN}', "malformed"),
        ([], "bad_challenge"),
        ({"prompt": "Why?"}, "bad_challenge"),
        ({"id": "../up", "prompt": "Why?"}, "bad_challenge"),
        ({"id": "a" * 129, "prompt": "Why?"}, "bad_challenge"),
        ({"id": "a"}, "bad_prompt"),
        ({"id": "a", "prompt": " "}, "empty_prompt"),
        ({"id": "a", "prompt": "Why?", "callback": "http://10.0.0.1/"}, "bad_challenge"),
        ({"id": "a", "prompt": "Why?", "entities": {}}, "bad_challenge"),
        ({"id": "a", "prompt": "Why?", "max_tokens": 10**9}, "bad_max_tokens"),
        ({"id": "a", "prompt": "Why?", "temperature": -1}, "bad_temperature"),
        ({"id": "a", "prompt": "Why?", "model": "m" * 999}, "bad_model"),
        ({"id": "a", "prompt": "Why?", "metadata": "m" * 99_999}, "bad_challenge"),
        ({"id": "a", "prompt": "\ud800 why"}, "bad_prompt"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(api: Api, content: Any, error: str) -> None:
    refused = api.push(content)
    assert (refused.status_code, refused.json()["error"]) == (400, error)
    assert not has_waiting(api.store, "inference")


def test_half_a_character_in_the_metadata_harms_nobody(api: Api) -> None:
    assert api.push({**ASKED, "metadata": "\ud800"}).status_code == 202
    assert api.push({**ASKED, "metadata": "\ud800"}).status_code == 202


def test_nonces_that_cannot_be_written_hold_up_nobody(api: Api, tmp_path: Path) -> None:
    body = json.dumps(ASKED).encode()
    with sqlite3.connect(tmp_path / "nonces.sqlite", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(api.push, body, None, **sign(BOB, body))
            began = time.monotonic()
            assert api.push(ASKED).status_code == 202
            assert time.monotonic() - began < 4
            assert held.result().status_code == 503
        other.execute("ROLLBACK")


def test_whoever_hangs_up_midway_is_no_fault_of_ours(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    host, port = api.url.removeprefix("http://").split(":")
    for _ in range(3):
        with socket.create_connection((host, int(port))) as line:
            line.sendall(b"POST /v1/challenges HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{")
    assert api.push(ASKED).status_code == 202
    assert "ClientDisconnect" not in caplog.text


def test_a_question_no_miner_would_take_is_refused(api: Api) -> None:
    many = [{"role": "user", "content": "a"}]
    assert api.push({"id": "a", "messages": many * 1001}).json()["error"] == "bad_messages"
    assert api.push({"id": "a", "messages": many * 30_000}).json()["error"] == "too_large"
    assert api.push({"id": "a", "prompt": "ж" * 160_000}).json()["error"] == "bad_prompt"


def test_a_body_too_large_is_refused(api: Api) -> None:
    assert api.push(b" " * (1 << 20) + b"{}").json()["error"] == "too_large"


def test_the_wishes_of_the_asker_reach_the_miner(api: Api) -> None:
    wishes = {"model": "any", "max_tokens": 9000, "temperature": 0.5}
    api.push({**ASKED, **wishes})
    taken = take_next(api.store, "inference", "r1", 0.0)
    assert taken is not None
    posed = INFERENCE.pose(make_params(INFERENCE), taken.task)
    assert posed == {"prompt": ASKED["prompt"], **wishes, "max_words": 4000}


def test_a_token_that_may_read_may_not_push(api: Api) -> None:
    assert api.push(ASKED, token="reader").json()["error"] == "missing_scope"


def test_a_question_in_any_language_may_ask_for_no_prose(api: Api) -> None:
    asked = {"id": "zh-1", "prompt": "请列出三种金属的熔点。", "prose": False}
    assert api.push(asked).status_code == 202
    taken = take_next(api.store, "inference", "r1", 0.0)
    assert taken is not None
    assert INFERENCE.pose(make_params(INFERENCE), taken.task) == {"prompt": asked["prompt"], "max_words": 2000}
    assert taken.task.body["prose"] is False
    refused = api.push({**asked, "id": "zh-2", "prose": "no"})
    assert (refused.status_code, refused.json()["error"]) == (400, "bad_prose")
