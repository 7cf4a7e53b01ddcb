"""The novelty API over real HTTP: every route, who may call it, and what is refused with which code."""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from network.loopback import ALICE, BOB, CHARLIE
from service.holders import bear, show
from service.novelty_api import BREAD, BRIDGE, HOLDERS, NOISE, OTTERS, Api, open_api
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.receipts import check_receipt
from weighbeam.network.signing_dialects import Btauth, OutgoingRequest
from weighbeam.senses.local import LocalSenses
from weighbeam.service.http.threads import BoundedThreadPool

TOKEN = 1_000_000_000


@pytest.fixture
def api(tmp_path: Path, senses: LocalSenses) -> Iterator[Api]:
    with open_api(tmp_path, senses) as opened:
        yield opened


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> Iterator[Api]:
    """One for all that is refused: nothing is ever taken in here."""
    with open_api(tmp_path_factory.mktemp("quiet"), senses) as opened:
        yield opened
        assert opened.get("/treasury").json()["contributions"] == 0


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> Iterator[Api]:
    """One for contributors of every name."""
    with open_api(tmp_path_factory.mktemp("crowd"), senses) as opened:
        yield opened
        assert opened.faults() == []


def said(reply: httpx2.Response) -> tuple[int, str]:
    content = reply.json()
    assert set(content) == {"error", "message", "remedy"}
    assert all(content.values())
    return reply.status_code, content["error"]


def test_a_contribution_is_checked_submitted_paid_receipted_and_listed(api: Api) -> None:
    checked = api.post("/check", {"text": OTTERS}).json()
    assert (checked["status"], checked["units"], checked["nearest"]) == ("paid", 100 * TOKEN, None)
    assert api.get("/treasury").json()["contributions"] == 0

    taken = api.submit("ada", OTTERS)
    assert taken.status_code == 201
    receipt = taken.json()
    assert check_receipt(receipt, ALICE.address) == ALICE.address
    assert (receipt["status"], receipt["units"], receipt["contributor"]) == ("paid", 100 * TOKEN, "ada")
    assert api.get(f"/contributions/{receipt['id']}").json() == {"receipt": receipt, "settlement": None}
    assert api.balance("ada").json() == {"contributor": "ada", "units": 100 * TOKEN, "held": 0}

    copied = api.submit("bea", f"  {OTTERS.upper()} ")
    assert (copied.status_code, copied.json()["status"], copied.json()["nearest"]) == (201, "duplicate", receipt["id"])
    assert api.post("/check", {"text": OTTERS}).json()["status"] == "duplicate"
    assert api.balance("bea").json()["units"] == 0
    total = api.get("/treasury").json()
    assert (total["treasury"], total["paid"], total["contributions"], total["pieces"]) == (
        -100 * TOKEN, 100 * TOKEN, 2, 1,
    )  # fmt: skip
    assert total["base_units"] == TOKEN
    assert api.faults() == []


def test_what_is_held_is_released_or_rejected_once_and_a_text_can_be_withdrawn(api: Api) -> None:
    first, second = (api.submit("ada", f"{NOISE} {word}").json() for word in ("gggh", "ttkw"))
    assert (first["status"], second["status"]) == ("held", "held")
    assert api.balance("ada").json()["held"] == first["units"] + second["units"]
    released = api.post(f"/contributions/{first['id']}/release")
    assert (released.status_code, released.json()["status"]) == (200, "released")
    assert check_receipt(released.json(), ALICE.address)
    assert api.post(f"/contributions/{first['id']}/release").json() == released.json()
    assert said(api.post(f"/contributions/{first['id']}/reject")) == (409, "not_held")
    assert api.post(f"/contributions/{second['id']}/reject").json()["status"] == "rejected"
    assert api.balance("ada").json() == {"contributor": "ada", "units": first["units"], "held": 0}
    assert api.get(f"/contributions/{first['id']}").json()["settlement"] == released.json()

    assert api.post(f"/contributions/{first['id']}/withdraw").json() == {"id": first["id"], "withdrawn": True}
    (line,) = api.get("/contributions?status=released").json()["contributions"]
    assert (line["text"], line["withdrawn"]) == (None, True)
    assert api.submit("bea", f"{NOISE} gggh").json()["status"] == "duplicate"
    (paid,) = re.findall(r"^weighbeam_novelty_paid_units_total (\S+)$", api.client.get("/metrics").text, re.M)
    assert float(paid) == first["units"]
    assert api.faults() == []


def test_history_goes_back_page_by_page_and_shows_texts_to_operators_alone(api: Api) -> None:
    for number in range(5):
        api.submit("ada" if number % 2 else "bea", f"{OTTERS} And number {number} swims away.")
    seen: list[int] = []
    path = "/contributions?limit=2"
    while path:
        page = api.get(path).json()
        seen += [line["id"] for line in page["contributions"]]
        path = f"/contributions?limit=2&before={page['next']}" if page["next"] else ""
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5
    lines = api.get("/contributions?contributor=ada").json()["contributions"]
    assert [line["contributor"] for line in lines] == ["ada", "ada"]
    assert all(OTTERS in line["text"] for line in lines)
    for path in ("/contributions", f"/contributions/{seen[0]}", "/treasury", "/contributors/ada"):
        assert "Sea otters" not in api.get(path, "only-read").text
    assert "Sea otters" not in api.post("/check", {"text": OTTERS + " Yes."}, "only-check").text


@pytest.mark.parametrize(
    "contributor", ["a/b", "../etc/passwd", "ада ✓", "50% off", "a?b=c#d", "treasury", "contributor:x", ".", "x" * 128]
)
def test_a_contributor_has_any_name_the_app_gives(crowd: Api, contributor: str) -> None:
    taken = crowd.submit(contributor, f"{OTTERS} So it is said by {contributor[:20]}.").json()
    assert taken["contributor"] == contributor
    found = crowd.get(f"/contributors/{quote_all(contributor)}").json()
    assert found == {"contributor": contributor, "units": taken["units"], "held": 0}
    (line,) = crowd.get(f"/contributions?contributor={quote_all(contributor)}").json()["contributions"]
    assert line["id"] == taken["id"]


def quote_all(text: str) -> str:
    """Every byte escaped, dots too, which a client would else take for folders."""
    return "".join(f"%{byte:02X}" for byte in text.encode())


ROUTES = {
    "check": [("POST", "/check")],
    "submit": [("POST", "/contributions")],
    "read": [("GET", path) for path in ("/contributors/ada", "/contributions/1", "/contributions", "/treasury")],
    "operate": [("POST", f"/contributions/1/{verb}") for verb in ("release", "reject", "withdraw")],
}


@pytest.mark.parametrize("scope", list(ROUTES))
def test_each_route_needs_its_scope_and_no_other(api: Api, scope: str) -> None:
    api.submit("ada", NOISE)
    for method, path in ROUTES[scope]:
        content = json.dumps({"text": BRIDGE} if scope == "check" else {"contributor": "bea", "text": BRIDGE}).encode()
        for name, scopes in HOLDERS.items():
            headers = bear(name)
            body = content if scope in ("check", "submit") else b""
            reply = api.client.request(method, f"/v1/novelty{path}", content=body, headers=headers)
            if scope in scopes:
                assert reply.status_code in (200, 201, 409)
            else:
                assert said(reply) == (403, "missing_scope")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}):
            reply = api.client.request(method, f"/v1/novelty{path}", content=content, headers=headers)
            assert said(reply)[0] == 401
            assert reply.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        (b"", 400, "malformed"),
        (b"{", 400, "malformed"),
        (b"\xff\xfe{}", 400, "malformed"),
        (b"[" * 100_000, 400, "malformed"),
        (b'{"contributor": "ada", "text": NaN}', 400, "malformed"),
        (b'{"contributor": "ada", "text": 1e999}', 400, "malformed"),
        (b'{"contributor": "ada", "text": "a b c", "text": "d e f"}', 400, "malformed"),
        ([], 400, "bad_contribution"),
        ("text", 400, "bad_contribution"),
        ({"contributor": "ada"}, 400, "bad_contribution"),
        ({"contributor": "ada", "text": OTTERS, "units": 10**9}, 400, "bad_contribution"),
        ({"text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": None, "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": 7, "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": "", "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": " ada", "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": "a\x00b", "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": "\ud800", "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": "x" * 129, "text": OTTERS}, 400, "bad_contributor"),
        ({"contributor": "ada", "text": ""}, 400, "too_short"),
        ({"contributor": "ada", "text": " \n\t\u200b"}, 400, "too_short"),
        ({"contributor": "ada", "text": None}, 400, "bad_text"),
        ({"contributor": "ada", "text": ["a"]}, 400, "bad_text"),
        ({"contributor": "ada", "text": f"{OTTERS}\x07"}, 400, "bad_text"),
        ({"contributor": "ada", "text": f"{OTTERS}\ud800"}, 400, "bad_text"),
        ({"contributor": "ada", "text": "word " * 4001}, 400, "too_long"),
        ({"contributor": "ada", "text": OTTERS, "key": 7}, 400, "bad_key"),
        ({"contributor": "ada", "text": OTTERS, "key": ""}, 400, "bad_key"),
        ({"contributor": "ada", "text": OTTERS, "key": "a b"}, 400, "bad_key"),
        ({"contributor": "ada", "text": OTTERS, "key": "k" * 129}, 400, "bad_key"),
        (b'{"contributor": "ada", "text": "' + b"a " * 500_000 + b'"}', 413, "too_large"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_reason(quiet: Api, content: Any, status: int, error: str) -> None:
    assert said(quiet.post("/contributions", content)) == (status, error)
    assert said(quiet.balance("ada")) == (404, "unknown_contributor")


def test_the_longest_text_fits_however_it_is_escaped(tmp_path: Path, senses: LocalSenses) -> None:
    with open_api(tmp_path, senses, NoveltyParams(max_chars=500)) as api:
        text = "ab cd ef " + "\U0001f600" * 491
        assert api.submit("ada", text).json()["status"] == "held"
        assert said(api.post("/contributions", b" " * 14_193)) == (413, "too_large")
        assert said(api.post("/contributions", b" " * 14_192)) == (400, "malformed")


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/contributions/999", 404, "unknown_contribution"),
        ("/contributions/0", 404, "unknown_contribution"),
        (f"/contributions/{2**63}", 404, "unknown_contribution"),
        (f"/contributions/{'9' * 4000}", 404, "unknown_contribution"),
        ("/contributions/-1", 400, "bad_query"),
        ("/contributions/1.0", 400, "bad_query"),
        ("/contributions/one", 400, "bad_query"),
        ("/contributions/%D9%A1", 400, "bad_query"),
        ("/contributions/..%2F1", 404, "unknown_route"),
        ("/contributors/nobody", 404, "unknown_contributor"),
        ("/contributors/%00", 400, "bad_contributor"),
        ("/contributors/", 400, "bad_contributor"),
        ("/contributions?limit=0", 400, "bad_query"),
        ("/contributions?limit=101", 400, "bad_query"),
        (f"/contributions?limit={'9' * 4000}", 400, "bad_query"),
        ("/contributions?before=-5", 400, "bad_query"),
        (f"/contributions?before={2**70}", 400, "bad_query"),
        ("/contributions?status=lost", 400, "bad_query"),
        ("/contributions?status=paid&status=held", 400, "bad_query"),
        ("/contributions?order=asc", 400, "bad_query"),
        ("/contributions?contributor=", 400, "bad_contributor"),
        ("/nothing", 404, "unknown_route"),
        ("/check", 405, "unknown_route"),
    ],
)
def test_a_path_that_leads_nowhere_says_so(quiet: Api, path: str, status: int, error: str) -> None:
    assert said(quiet.get(path)) == (status, error)
    if path.startswith("/contributions/") and error != "unknown_route":
        for verb in ("release", "reject", "withdraw"):
            assert said(quiet.post(f"{path}/{verb}")) == (status, error)


def test_a_key_gives_the_first_answer_again_and_belongs_to_its_caller(api: Api) -> None:
    first = api.submit("ada", OTTERS, key="k-1")
    again = api.post("/contributions", {"contributor": "ada", "text": OTTERS}, **{"Idempotency-Key": "k-1"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert said(api.submit("ada", BRIDGE, key="k-1")) == (409, "key_conflict")
    assert said(api.submit("bea", OTTERS, key="k-1")) == (409, "key_conflict")
    assert api.submit("bea", BRIDGE, "other", key="k-1").json()["status"] == "paid"
    unnamed = [api.submit("cyd", BREAD) for _ in range(2)]
    assert [reply.status_code for reply in unnamed] == [201, 200]
    both = {"contributor": "ada", "text": OTTERS, "key": "k-1"}
    assert api.post("/contributions", both, **{"Idempotency-Key": "k-1"}).status_code == 200
    assert said(api.post("/contributions", both, **{"Idempotency-Key": "k-2"})) == (400, "bad_key")
    headers = [*bear("app").items(), ("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
    twice = api.client.post("/v1/novelty/contributions", json={"contributor": "a", "text": OTTERS}, headers=headers)
    assert said(twice) == (400, "bad_key")
    assert api.get("/treasury").json()["contributions"] == 3
    metrics = api.client.get("/metrics").text
    for outcome, count in (("paid", 3), ("repeated", 3), ("key_conflict", 2), ("bad_key", 2)):
        assert f'weighbeam_novelty_submissions_total{{outcome="{outcome}"}} {count}.0' in metrics
    assert "weighbeam_novelty_submit_seconds_count 10.0" in metrics
    assert "weighbeam_novelty_corpus_pieces 3.0" in metrics


def test_who_signs_is_a_contributor_and_sees_only_its_own(api: Api) -> None:
    others = api.submit("ada", OTTERS).json()
    mine = api.sign(BOB, "POST", "/contributions", {"text": BRIDGE})
    assert (mine.status_code, mine.json()["contributor"]) == (201, BOB.address)
    named = {"text": BREAD, "contributor": BOB.address}
    assert api.sign(BOB, "POST", "/contributions", named).json()["status"] == "paid"
    stolen = {"text": BREAD, "contributor": "ada"}
    assert said(api.sign(BOB, "POST", "/contributions", stolen)) == (403, "not_allowed")
    assert api.sign(BOB, "POST", "/check", {"text": BREAD}).json()["status"] == "duplicate"
    assert api.sign(BOB, "GET", f"/contributors/{BOB.address}").json()["units"] > 0
    assert said(api.sign(BOB, "GET", "/contributors/ada")) == (403, "not_allowed")
    assert api.sign(BOB, "GET", f"/contributions/{mine.json()['id']}").json()["receipt"] == mine.json()
    hidden, never = (api.sign(BOB, "GET", f"/contributions/{id}") for id in (others["id"], 999))
    assert said(hidden) == said(never) == (404, "unknown_contribution")
    assert hidden.json()["message"].replace(str(others["id"]), "999") == never.json()["message"]
    lines = api.sign(BOB, "GET", "/contributions").json()["contributions"]
    assert [line["contributor"] for line in lines] == [BOB.address] * 2
    assert said(api.sign(BOB, "GET", "/contributions?contributor=ada")) == (403, "not_allowed")
    assert said(api.sign(BOB, "GET", "/treasury")) == (403, "missing_scope")
    for verb in ("release", "reject", "withdraw"):
        assert said(api.sign(BOB, "POST", f"/contributions/1/{verb}")) == (403, "missing_scope")
    assert said(api.sign(CHARLIE, "POST", "/contributions", {"text": BRIDGE})) == (403, "not_allowed")


def test_what_is_not_signed_changes_nothing(api: Api) -> None:
    body = json.dumps({"text": BRIDGE}).encode()
    target = "/v1/novelty/contributions"
    signed = Btauth().sign(BOB, OutgoingRequest("POST", target, body, str(time.time_ns()), ALICE.address)).headers
    changed = api.client.post(target, content=body.replace(b"steel", b"stone"), headers=signed)
    assert said(changed) == (401, "bad_signature")
    keyed = api.client.post(target, content=body, headers={**signed, "Idempotency-Key": "k"})
    assert said(keyed) == (400, "bad_key")
    assert said(api.client.post(target, content=body, headers=signed)) == (401, "replayed")


def test_limits_are_kept_whole(tmp_path: Path, senses: LocalSenses) -> None:
    limits = PayLimits(per_day=250 * TOKEN, per_contributor=100 * TOKEN)
    with open_api(tmp_path, senses, limits=limits) as api:
        assert api.submit("ada", OTTERS).json()["units"] == 100 * TOKEN
        assert said(api.submit("ada", BRIDGE)) == (409, "budget_spent")
        assert api.submit("bea", BRIDGE).json()["units"] == 100 * TOKEN
        assert said(api.submit("cyd", BREAD)) == (409, "budget_spent")
        assert api.get("/treasury").json()["treasury"] == -200 * TOKEN
        assert api.get("/treasury").json()["day_limit"] == 250 * TOKEN


def test_implausible_text_can_be_refused(tmp_path: Path, senses: LocalSenses) -> None:
    with open_api(tmp_path, senses, NoveltyParams(gate="deny")) as api:
        assert said(api.submit("ada", NOISE)) == (422, "implausible")
        assert api.post("/check", {"text": NOISE}).json()["status"] == "refused"


def test_who_calls_too_often_waits(tmp_path: Path, senses: LocalSenses) -> None:
    with open_api(tmp_path, senses, pace=1) as api:
        replies = [api.get("/treasury") for _ in range(11)]
        assert [reply.status_code for reply in replies] == [200] * 10 + [429]
        assert said(replies[10]) == (429, "rate_limited")
        assert 50 < int(replies[10].headers["Retry-After"]) <= 60
        assert api.get("/treasury", "other").status_code == 200


def test_a_full_pool_says_busy_at_once_and_health_still_answers(tmp_path: Path, senses: LocalSenses) -> None:
    pool, hold = BoundedThreadPool(workers=1, waiting=1, patience=0.2), threading.Event()
    with open_api(tmp_path, senses, pool=pool) as api, ThreadPoolExecutor(1) as callers:
        stuck = threading.Thread(target=lambda: asyncio.run(pool.run(hold.wait)))
        stuck.start()
        try:
            wait_until(lambda: pool.inside == 1)
            waits = callers.submit(api.submit, "ada", OTTERS)
            wait_until(lambda: pool.inside == 2)
            refused = api.submit("bea", BRIDGE)
            assert said(refused) == (503, "busy")
            assert int(refused.headers["Retry-After"]) > 0
            wait_until(lambda: api.client.get("/health").status_code == 503)
            health = api.client.get("/health").json()
            assert (health["status"], health["inside"], health["limit"]) == ("stalled", 2, 2)
        finally:
            hold.set()
            stuck.join()
        assert waits.result().status_code == 201
        assert api.client.get("/health").json()["status"] == "ok"
        assert api.submit("bea", BRIDGE).status_code == 201


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_caller_that_hangs_up_leaves_its_place(tmp_path: Path, senses: LocalSenses) -> None:
    with open_api(tmp_path, senses, pool=BoundedThreadPool(workers=1, waiting=0)) as api:
        host, port = api.url.removeprefix("http://").split(":")
        for number in range(5):
            text = json.dumps({"contributor": "ada", "text": f"{OTTERS} {number}"}).encode()
            head = f"POST /v1/novelty/contributions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n"
            head += f"Authorization: Bearer {show('app')}\r\n\r\n"
            with socket.create_connection((host, int(port))) as line:
                line.sendall(head.encode() + text[: number * 20])
        wait_until(lambda: api.submit("bea", BRIDGE).status_code in (200, 201))


def test_the_description_names_every_route_and_its_shapes(quiet: Api) -> None:
    described = quiet.client.get("/openapi.json").json()
    named = {
        (method.upper(), path.removeprefix("/v1/novelty")) for path, on in described["paths"].items() for method in on
    }
    routes = {(method, path.replace("/1", "/{contribution}").replace("/ada", "/{contributor}"))
              for listed in ROUTES.values() for method, path in listed}  # fmt: skip
    assert named == routes | {("GET", "/health"), ("GET", "/metrics")}
    submit = described["paths"]["/v1/novelty/contributions"]["post"]
    assert "text" in submit["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert {"200", "201", "400", "401", "403", "409", "413", "422", "429", "503"} <= set(submit["responses"])
    assert submit["security"] == [{"HTTPBearer": []}]
    for path in ("/docs", "/redoc"):
        assert quiet.client.get(path).status_code == 404
