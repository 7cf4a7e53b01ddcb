"""Contributing as a hotkey over HTTP: what the node says is believed only as far as it is signed and about us."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry

from mechanisms.novelty.desk.tiny_senses import TinySenses
from network.loopback import serve_app
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.miners.contributors import TRICKS, contribute, count_turns, load_lines
from weighbeam.mechanisms.novelty.service.client import send_contribution
from weighbeam.mechanisms.novelty.service.handlers import SIGNER, NoveltyApi
from weighbeam.mechanisms.novelty.service.routes import add_novelty
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.network.receipts import sign_receipt
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import AllowedSigners, Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

NODE, ADA, EVE = (Hotkey.from_uri(f"//{name}") for name in ("Node", "Ada", "Eve"))
LINE = "Swifts eat, drink and sleep on the wing for years."


@pytest.fixture
def desk_url(tmp_path: Path) -> Iterator[str]:
    store, pools, registry = Store(f"sqlite:///{tmp_path / 'n.db'}"), ThreadPools(), CollectorRegistry()
    desk = open_desk(store, TinySenses(), NODE)
    policy = SenderPolicy(PolicySettings(allow=frozenset({ADA.address})))
    ready = NonceStore(tmp_path / "nonces.sqlite", lambda: 0)
    gate = Authenticator(NODE.address, TokenKeyring(store), RateLimits(), signers=AllowedSigners(policy, ready, SIGNER))
    app = make_service_app(pools.submissions, registry)
    add_novelty(app, gate, NoveltyApi(desk, lambda: 1.0), pools, registry)
    with serve_app(app) as url:
        yield url if "://" in url else f"http://{url}"
    pools.close()
    store.close()


def test_a_hotkey_is_paid_and_gets_its_receipt(desk_url: str) -> None:
    receipt = send_contribution(desk_url, NODE.address, ADA, LINE)
    assert (receipt["contributor"], receipt["status"], receipt["units"]) == (ADA.address, "paid", 100 * 10**9)
    assert send_contribution(desk_url + "/", NODE.address, ADA, LINE.upper())["status"] == "duplicate"


def test_refusals_come_through_with_their_codes(desk_url: str) -> None:
    for hotkey, node, text, code in (
        (ADA, NODE.address, "too short", "too_short"),
        (EVE, NODE.address, LINE, "not_allowed"),
        (ADA, EVE.address, LINE, "wrong_receiver"),
    ):
        with pytest.raises(WeighbeamError) as caught:
            send_contribution(desk_url, node, hotkey, text)
        assert caught.value.code == code


@pytest.mark.parametrize("lie", ["nothing", "unsigned", "another signer", "another text", "not json", "teapot"])
def test_a_node_that_lies_is_not_believed(lie: str) -> None:
    app = FastAPI()

    @app.post("/v1/novelty/contributions")
    async def answer(request: Request) -> Response:
        text = json.loads(await request.body())["text"]
        return Response(make_lie(lie, text), 418 if lie == "teapot" else 201)

    with serve_app(app) as url, pytest.raises(WeighbeamError) as caught:
        send_contribution(url if "://" in url else f"http://{url}", NODE.address, ADA, LINE)
    assert caught.value.code == ("call_failed" if lie == "teapot" else "bad_receipt")


def make_lie(lie: str, text: str) -> str:
    body: dict[str, Any] = {"contributor": ADA.address, "text_sha256": "0" * 64, "units": 1, "asked": text}
    if lie == "another text":
        return json.dumps(sign_receipt(body, NODE))
    if lie == "another signer":
        return json.dumps(sign_receipt(body, EVE))
    return {"nothing": "{}", "unsigned": json.dumps(body), "not json": "<html>", "teapot": "[]"}[lie]


def test_the_demo_has_something_new_to_say_at_every_turn() -> None:
    said = [contribute(f"lines:{place}/5", turn) for turn in range(count_turns()) for place in range(5)]
    assert len(set(said)) == len(said) == len(load_lines())
    assert all(contribute(f"hostile:{trick}", turn) for trick in TRICKS for turn in range(count_turns()))
    with pytest.raises(WeighbeamError, match="unknown_answers"):
        contribute("hostile:nothing", 0)
