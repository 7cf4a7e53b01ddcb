"""The reading API over real HTTP: what is told to whom, what is refused, and what is not sent twice."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from prometheus_client import CollectorRegistry

from engine.organic_round import HOSTILE, RECALL, SECRET, START
from engine.recall import play
from network.loopback import ALICE, BOB
from service.read_api import NAME, PNG, Api, serve_reading
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.views.receipts import hash_answer
from weighbeam.network.receipts import check_receipt, sign_receipt

LAST = f"{NAME}-1"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serve_reading(tmp_path_factory.mktemp("reading"), registry=CollectorRegistry()) as found:
        yield found


ROUTES = (
    "/v1/rounds", f"/v1/rounds/{LAST}", f"/v1/rounds/{LAST}/scores/a", f"/v1/rounds/{LAST}/receipts/a",
    "/v1/rounds/mine", "/v1/mechanisms", f"/v1/mechanisms/{NAME}/params", f"/v1/mechanisms/{NAME}/standings",
    "/v1/miners/a/scores", "/v1/miners/a", "/v1/attacks", "/v1/attacks?hours=700",
    "/v1/weights", "/v1/submissions", "/v1/metagraph", "/v1/alerts", "/v1/copies",
    "/v1/compare/miners?a=a&b=b", f"/v1/compare/rounds?b={LAST}", "/v1/compare/rounds?b=mine&a=open",
    "/v1/compare/validators", "/v1/compare/validators?miner=a",
    "/v1/overview", "/v1/health", "/v1/config",
)  # fmt: skip


@pytest.mark.parametrize("path", ROUTES)
def test_every_answer_is_as_documented(api: Api, path: str) -> None:
    shapes = api.get("/openapi.json").json()
    described = {name: one["get"] for name, one in shapes["paths"].items() if name.startswith("/v1/") and "get" in one}
    found = api.get(path, token="boss")
    assert found.status_code == 200, found.text
    parts = path.partition("?")[0].split("/")
    (operation,) = [
        one
        for name, one in described.items()
        if len(name.split("/")) == len(parts)
        and all(a == b or a.startswith("{") for a, b in zip(name.split("/"), parts, strict=True))
    ]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": shapes["components"]}).validate(found.json())
    assert operation["tags"]
    assert {"401", "400"} <= set(operation["responses"]) or path == "/v1/health"


def test_pages_lead_from_one_to_the_next(api: Api) -> None:
    names, cursor = [], None
    while True:
        page = api.get(f"/v1/rounds?limit=1&state=scored{f'&cursor={cursor}' if cursor else ''}").json()
        names += [line["id"] for line in page["rounds"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert names == [LAST, f"{NAME}-0", "mine"] or names == [LAST, "mine", f"{NAME}-0"]


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("/v1/rounds?limit=501", 400, "bad_query"),
        ("/v1/rounds?limit=1&limit=2", 400, "bad_query"),
        ("/v1/rounds?most=5", 400, "bad_query"),
        ("/v1/rounds?state=lost", 400, "bad_query"),
        ("/v1/rounds?cursor=AAAA", 400, "bad_cursor"),
        ("/v1/rounds?hotkey=%00", 400, "bad_query"),
        ("/v1/rounds/never", 404, "unknown_round"),
        ("/v1/rounds/a%00b", 400, "bad_query"),
        ("/v1/rounds/%ff", 404, "unknown_round"),
        ("/v1/rounds/..%2f..%2fetc%2fpasswd", 404, "unknown_route"),
        ("/v1/rounds/..%2f..%2fetc/heatmap.png", 404, "unknown_route"),
        ("/v1/rounds/%2e%2e/heatmap.png", 404, "no_picture"),
        (f"/v1/rounds/{NAME}-0/heatmap.png", 404, "no_picture"),
        (f"/v1/rounds/{LAST}/scores/nobody", 404, "unknown_hotkey"),
        (f"/v1/rounds/{LAST}/receipts/nobody", 404, "unknown_hotkey"),
        ("/v1/rounds/open/receipts/a", 409, "not_scored"),
        ("/v1/mechanisms/chess/params", 404, "unknown_mechanism"),
        ("/v1/mechanisms/chess/standings", 404, "unknown_mechanism"),
        ("/v1/miners/nobody/scores", 404, "unknown_hotkey"),
        ("/v1/miners/nobody", 404, "unknown_hotkey"),
        ("/v1/miners/a?mechanism=chess", 404, "unknown_mechanism"),
        ("/v1/attacks?hours=0", 400, "bad_query"),
        ("/v1/weights?mechanism=chess", 404, "unknown_mechanism"),
        ("/v1/compare/miners?a=a", 400, "bad_query"),
        ("/v1/compare/miners?a=&b=b", 400, "bad_query"),
        ("/v1/compare/miners?a=%20&b=b", 404, "unknown_hotkey"),
        ("/v1/compare/miners?a=a&b=nobody", 404, "unknown_hotkey"),
        ("/v1/compare/miners?a=a&b=b&mechanism=chess", 404, "unknown_mechanism"),
        ("/v1/compare/rounds", 400, "bad_query"),
        ("/v1/compare/rounds?b=never", 404, "unknown_round"),
        (f"/v1/compare/rounds?b={LAST}&a=never", 404, "unknown_round"),
        ("/v1/compare/validators?other=..%2f..%2fetc%2fpasswd", 400, "bad_query"),
        ("/v1/config", 403, "missing_scope"),
    ],
)
def test_what_cannot_be_given_is_refused_with_a_reason(api: Api, path: str, status: int, error: str) -> None:
    found = api.get(path)
    assert found.status_code == status
    assert found.json().get("error") == error


def test_who_may_not_read_reads_nothing(api: Api) -> None:
    assert api.refuse("/v1/rounds", None)[0] == 401
    assert api.refuse("/v1/rounds", "asker") == (403, "missing_scope")
    assert api.refuse("/v1/events", None)[0] == 401
    assert api.get("/v1/health", None).json() == api.get("/health", None).json()


def test_users_texts_are_told_to_admins_and_to_who_asked(api: Api) -> None:
    for path in ("/v1/rounds/mine", "/v1/rounds/mine/scores/a"):
        for token in ("boss", "app"):
            assert "doctor" in api.get(path, token).text
            assert not api.get(path, token).json()["withheld"]
        stranger = api.get(path, "reader")
        assert stranger.json()["withheld"]
        assert "doctor" not in stranger.text
    assert api.get("/v1/rounds/mine/scores/a", "boss").json()["explanation"] is not None
    assert api.get("/v1/rounds/mine/scores/a").json()["explanation"] is None
    listed = {line["id"]: line["kind"] for line in api.get("/v1/rounds").json()["rounds"]}
    assert (listed["mine"], listed[LAST]) == ("organic", "synthetic")


def test_two_miners_are_compared_over_the_rounds_of_both(api: Api) -> None:
    found = api.get("/v1/compare/miners?a=a&b=b").json()
    assert (found["mechanism"], found["a"]["hotkey"], found["b"]["hotkey"]) == (NAME, "a", "b")
    assert found["counted"] == len(found["rounds"]) == found["a_ahead"] + found["b_ahead"]
    for one in found["rounds"]:
        view = {row["hotkey"]: row for row in api.get(f"/v1/rounds/{one['round']}").json()["answers"]}
        assert (one["a"]["value"], one["b"]["value"]) == (view["a"]["value"], view["b"]["value"])
        assert one["difference"] == view["a"]["value"] - view["b"]["value"]
    swapped = api.get("/v1/compare/miners?a=b&b=a").json()
    assert swapped["mean_difference"] == -found["mean_difference"]
    assert (swapped["a_ahead"], swapped["b_ahead"]) == (found["b_ahead"], found["a_ahead"])
    failed = api.get("/v1/compare/miners?a=a&b=c").json()
    assert sum(failed["b"]["reasons"].values()) == failed["counted"]


def test_a_round_is_compared_with_the_one_before_it(api: Api) -> None:
    found = api.get(f"/v1/compare/rounds?b={LAST}").json()
    named = api.get(f"/v1/compare/rounds?a={found['a']['id']}&b={LAST}").json()
    assert named == found
    assert found["a"]["at"] <= found["b"]["at"]
    assert found["params"] == []
    assert {one["hotkey"] for one in found["answers"]} >= {"a", "b", "c"}
    places = {one["hotkey"]: one["b"] and one["b"]["place"] for one in found["answers"]}
    assert (places["a"], places["c"]) == (1, None)
    oldest = api.get("/v1/rounds").json()["rounds"][-1]["id"]
    alone = api.get(f"/v1/compare/rounds?b={oldest}").json()
    assert (alone["a"], alone["answers"]) == (None, [])


def test_a_comparison_tells_no_users_text(api: Api) -> None:
    told = api.get("/v1/compare/rounds?b=mine&a=open", "boss").text
    assert "doctor" not in told
    assert SECRET not in told


def test_hostile_texts_come_back_as_they_were_sent(api: Api) -> None:
    found = api.get("/v1/rounds/mine", "boss")
    assert found.content.isascii()
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-type"] == "application/json"
    assert found.json()["answers"][1]["payload"] == {"text": HOSTILE}
    assert SECRET in found.json()["narrative"]


def test_what_has_not_changed_is_not_sent_again(api: Api) -> None:
    first = api.get("/v1/alerts")
    etag = first.headers["etag"]
    again = api.get("/v1/alerts", **{"If-None-Match": f'W/"other", {etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    Alerts(api.store, lambda: START).tell("stalled", "info", "x", NAME)
    for _ in range(100):
        changed = api.get("/v1/alerts", **{"If-None-Match": etag})
        if changed.status_code == 200:
            break
    assert changed.json()["alerts"][0]["code"] == "stalled"
    assert api.get("/v1/rounds/mine", "boss").headers["etag"] != api.get("/v1/rounds/mine").headers["etag"]


def test_a_picture_is_a_picture(api: Api) -> None:
    found = api.get(f"/v1/rounds/{LAST}/heatmap.png")
    assert (found.status_code, found.content) == (200, PNG)
    assert found.headers["content-type"] == "image/png"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert api.get(f"/v1/rounds/{LAST}").json()["heatmap"]


def test_parameters_are_told_with_what_they_mean(api: Api) -> None:
    found = api.get(f"/v1/mechanisms/{NAME}/params").json()
    assert {one["name"]: one["value"] for one in found["params"]} == {
        "words_per_keyword": 8,
        "alpha": 0.2,
    }
    assert found["params_hash"] == api.get(f"/v1/rounds/{LAST}").json()["params_hash"]


def test_a_receipt_is_signed_and_names_the_entry(api: Api, tmp_path: Path) -> None:
    receipt = api.get(f"/v1/rounds/{LAST}/receipts/a").json()
    view = api.get(f"/v1/rounds/{LAST}").json()
    assert check_receipt(receipt, ALICE.address) == ALICE.address
    assert (receipt["entry"], receipt["sequence"]) == (view["entry"]["hash"], view["entry"]["sequence"])
    assert receipt["answer_sha256"] == hash_answer({"text": "tide moon"})
    assert api.get(f"/v1/rounds/{LAST}/receipts/c").json()["answer_sha256"] is None
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt))
    assert verify(file, "--node", ALICE.address) == 0
    assert verify(file, "--node", BOB.address) == 1
    file.write_text(json.dumps({**receipt, "value": 1.5}))
    assert verify(file) == 1


def verify(file: Path, *more: str) -> int:
    command = [sys.executable, "-m", "weighbeam", "journal", "receipts", "verify", str(file), *more]
    return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode


SCORED = {
    "kind": "score", "round": "r", "mechanism": "m", "hotkey": "a", "at": 5.5, "block": 7, "status": "valid",
    "value": 0.25, "reasons": ["x"], "params_hash": "0" * 64, "seed": "s", "answer_sha256": None,
    "entry": "1" * 64, "sequence": 9,
}  # fmt: skip
RECEIPT = sign_receipt(SCORED, ALICE)
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2)


@given(st.sampled_from(sorted(RECEIPT)), values)
def test_a_receipt_of_which_anything_was_changed_is_refused(name: str, value: object) -> None:
    changed = {**RECEIPT, name: value}
    if json.dumps(changed) != json.dumps(RECEIPT):
        with pytest.raises(WeighbeamError, match="bad_receipt"):
            check_receipt(changed)
    fewer = {key: kept for key, kept in RECEIPT.items() if key != name}
    for other in (fewer, {**RECEIPT, f"{name}s": value}, {**RECEIPT, name: str(RECEIPT[name]).upper() + " "}):
        with pytest.raises(WeighbeamError, match="bad_receipt"):
            check_receipt(other)


def test_new_rounds_are_read_within_a_moment(api: Api) -> None:
    play(Journal(api.store), RECALL, 77, START - 500, {"a": "tide"})
    for _ in range(100):
        if any(line["id"] == f"{NAME}-77" for line in api.get("/v1/rounds").json()["rounds"]):
            return
    raise AssertionError("the new round was not seen")
