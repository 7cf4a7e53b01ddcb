"""The organic API over real HTTP: what may be asked, in which order it goes, and who is told what of it."""

import json
import sqlite3
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from network.loopback import BOB
from service.holders import show
from service.organic_api import MECHANISMS, Api, open_api, said
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.requests.organic import enqueue_request, fail_request, has_waiting, take_next
from weighbeam.engine.requests.progress import parse_progress, select_progress
from weighbeam.engine.requests.queue import PATIENCE_SECONDS, RequestTerms, insert_request, list_requests, number_queue
from weighbeam.engine.requests.tokens import revoke_token
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store

DOCUMENT = {"document": "The tide rises. The tide falls. The twilight darkens.", "chunk_size": 30}
PROMPT = {"prompt": "Why does bread rise?"}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    with open_api(store) as opened:
        yield opened
    store.close()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One for all that is refused: nothing ever waits here."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('quiet') / 'journal.db'}")
    with open_api(store) as opened:
        yield opened
        assert not any(has_waiting(store, name) for name in MECHANISMS)
    store.close()


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def take(api: Api, mechanism: str = "chunking", now: float | None = None) -> str:
    taken = take_next(api.store, mechanism, f"round-{time.monotonic_ns()}", time.time() if now is None else now)
    assert taken is not None
    return taken.id


def fail(api: Api, request: str, message: str = "nobody") -> None:
    """The round that took it ends without a valid answer."""
    with api.store.read() as connection:
        taken = connection.scalar(select(tables.requests.c.round).where(tables.requests.c.id == request))
    fail_request(api.store, request, taken, "no_valid_answer", message)


def test_a_question_waits_and_says_where_it_can_be_followed(api: Api) -> None:
    put = api.ask(DOCUMENT)
    assert put.status_code == 202
    state = put.json()
    assert (state["state"], state["position"], state["priority"], state["ranked"]) == ("waiting", 1, "normal", True)
    assert api.get(state["status_url"]).json() == state
    assert api.ask(DOCUMENT).json()["position"] == 2
    for mechanism, body in (
        ("inference", PROMPT),
        ("inference", {"messages": [{"role": "user", "content": "Why?"}], "max_tokens": 50}),
        ("evidence", {"statement": "The sea is salty."}),
        ("keyword-recall", {"keywords": ["tide"]}),
    ):
        assert api.ask(body, mechanism=mechanism).status_code == 202
    assert api.ask(PROMPT, mechanism="novelty").status_code == 404


def test_nobody_sees_what_another_asks_but_an_admin(api: Api) -> None:
    request = api.ask(DOCUMENT).json()["id"]
    for path in (f"/v1/requests/{request}", f"/v1/requests/{request}/events"):
        hidden, never = api.get(path, "other"), api.get("/v1/requests/organic-0", "other")
        assert said(hidden) == said(never) == (404, "unknown_request")
        assert hidden.content == never.content
        assert said(api.get(path, "reader")) == (403, "missing_scope")
        assert said(api.client.get(path)) == (401, "bad_token")
    assert said(api.cancel(request, "other")) == (404, "unknown_request")
    assert api.look(request, "boss")["caller"] == "token:app"
    assert api.get("/v1/requests", "other").json() == {"requests": [], "next": None}
    assert [line["id"] for line in api.get("/v1/requests", "boss").json()["requests"]] == [request]
    assert said(api.ask(DOCUMENT, "reader")) == (403, "missing_scope")
    assert said(api.client.post("/v1/chunking/requests", json=DOCUMENT)) == (401, "bad_token")
    assert "tide" not in api.get("/v1/requests", "boss").text + json.dumps(api.look(request))


def test_requests_are_listed_page_by_page(api: Api) -> None:
    asked = [api.ask(DOCUMENT).json()["id"] for _ in range(5)]
    api.ask(DOCUMENT, "other")
    seen: list[str] = []
    path = "/v1/requests?limit=2"
    while path:
        page = api.get(path).json()
        seen += [line["id"] for line in page["requests"]]
        path = f"/v1/requests?limit=2&before={page['next']}" if page["next"] else ""
    assert seen == asked[::-1]
    foreign = api.get("/v1/requests", "other").json()["requests"][0]["id"]
    for query in (f"before={foreign}", "before=%00", "limit=0", "limit=x", "limit=1&limit=2", "order=asc"):
        assert said(api.get(f"/v1/requests?{query}")) == (400, "bad_query")


def test_the_urgent_go_first_as_far_as_their_token_goes(api: Api) -> None:
    low = api.ask({**DOCUMENT, "priority": "low"}).json()
    normal = api.ask({**DOCUMENT, "priority": "high"}).json()
    high = api.ask({**DOCUMENT, "priority": "high"}, "urgent").json()
    assert [one["priority"] for one in (low, normal, high)] == ["low", "normal", "high"]
    assert [api.look(one["id"], "boss")["position"] for one in (low, normal, high)] == [3, 2, 1]
    assert [take(api) for _ in range(3)] == [high["id"], normal["id"], low["id"]]


def test_nobody_waits_behind_the_urgent_for_more_than_ten_minutes(api: Api) -> None:
    chunking = load_mechanism("chunking")
    params, now = make_params(chunking), time.time()
    low = enqueue_request(api.store, chunking, params, DOCUMENT, now - PATIENCE_SECONDS - 1, RequestTerms(priority=-1))
    young = enqueue_request(
        api.store, chunking, params, DOCUMENT, now - PATIENCE_SECONDS + 60, RequestTerms(priority=-1)
    )
    high = enqueue_request(api.store, chunking, params, DOCUMENT, now, RequestTerms(priority=1))
    assert [take(api, now=now) for _ in range(3)] == [low, high, young]


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 1200), st.integers(-1, 1)), max_size=12))
def test_the_line_is_the_order_in_which_it_is_taken(quiet: Api, waiting: list[tuple[int, int]]) -> None:
    kept = {"body": {}, "wanted": [], "ranked": True}
    with quiet.store.write() as connection:
        for number, (age, priority) in enumerate(waiting):
            insert_request(connection, f"{number:02}", "made", 2000.0 - age, kept, RequestTerms(priority=priority))
        places = number_queue(connection, "made", 2000.0)
    taken = [take(quiet, "made", 2000.0) for _ in waiting]
    with quiet.store.write() as connection:
        connection.execute(delete(tables.requests))
    assert taken == sorted(places, key=places.__getitem__)

    def urge(number: str) -> tuple[int, int, int, str]:
        age, priority = waiting[int(number)]
        return (0, 0, -age, number) if age >= PATIENCE_SECONDS else (1, -priority, -age, number)

    assert taken == sorted(places, key=urge)


def test_one_key_is_one_question(api: Api) -> None:
    first = api.ask({**DOCUMENT, "key": "k-1"})
    again = api.ask(DOCUMENT, **{"Idempotency-Key": "k-1"})
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert said(api.ask({**DOCUMENT, "chunk_size": 31, "key": "k-1"})) == (409, "key_conflict")
    assert said(api.ask({**PROMPT, "key": "k-1"}, mechanism="inference")) == (409, "key_conflict")
    assert said(api.ask({**DOCUMENT, "key": "k-2"}, **{"Idempotency-Key": "k-1"})) == (400, "bad_key")
    assert api.ask({**DOCUMENT, "key": "k-1"}, "other").json()["id"] != first.json()["id"]
    with ThreadPoolExecutor(16) as pool:
        raced = list(pool.map(lambda _: api.ask({**DOCUMENT, "key": "k-3"}), range(16)))
    assert Counter(reply.status_code for reply in raced) == {202: 16}
    assert len({reply.json()["id"] for reply in raced}) == 1
    fail(api, take(api))
    assert api.ask({**DOCUMENT, "key": "k-1"}).json()["state"] == "failed"


def test_what_waits_can_be_taken_back_and_is_forgotten(api: Api, tmp_path: Path) -> None:
    kept, gone = (api.ask({"document": f"Nobody shall know of {name}."}).json()["id"] for name in ("otters", "swifts"))
    assert api.look(gone)["position"] == 2
    cancelled = api.cancel(gone)
    assert (cancelled.status_code, cancelled.json()["state"], cancelled.json()["position"]) == (200, "cancelled", None)
    with sqlite3.connect(tmp_path / "journal.db") as store:
        told = " ".join(row[0] for row in store.execute("SELECT body FROM requests"))
    assert "otters" in told
    assert "swifts" not in told
    assert said(api.cancel(gone)) == (409, "not_waiting")
    assert take(api) == kept
    assert said(api.cancel(kept)) == (409, "not_waiting")
    assert api.look(kept)["state"] == "taken"
    assert [name for name, _ in api.follow(gone)] == ["cancelled"]


def test_whether_it_counts_is_for_the_token_to_say(api: Api) -> None:
    assert said(api.ask({**DOCUMENT, "ranked": False})) == (403, "not_allowed")
    assert api.ask({**DOCUMENT, "ranked": True}).json()["ranked"] is True
    assert api.ask(DOCUMENT, "quiet").json()["ranked"] is False
    assert api.ask({**DOCUMENT, "ranked": True}, "quiet").json()["ranked"] is True
    wanted = api.ask({**DOCUMENT, "wanted": [BOB.address, BOB.address]}, "urgent").json()["id"]
    taken = [take_next(api.store, "chunking", f"r{number}", time.time()) for number in range(4)]
    assert {one.id: one.task.wanted for one in taken if one is not None}[wanted] == (BOB.address,)


@pytest.mark.parametrize(
    ("mechanism", "content", "status", "error"),
    [
        ("chunking", b"", 400, "malformed"),
        ("chunking", b"{", 400, "malformed"),
        ("chunking", b"\xff{}", 400, "malformed"),
        ("chunking", b"[" * 100_000, 400, "malformed"),
        ("chunking", b'{"document": "a b", "document": "c d"}', 400, "malformed"),
        ("chunking", b'{"document": "a b", "chunk_size": NaN}', 400, "malformed"),
        ("chunking", b'{"document": "a b", "chunk_size": 1e999}', 400, "malformed"),
        ("chunking", b'{"document": "a b", "chunk_size": ' + b"9" * 4000 + b"}", 400, "malformed"),
        ("chunking", b'{"document": "a b", "chunk_size": ' + b"9" * 9000 + b"}", 400, "malformed"),
        ("chunking", [], 400, "bad_question"),
        ("chunking", "text", 400, "bad_question"),
        ("chunking", {**DOCUMENT, "time_soft_max": 900}, 400, "bad_question"),
        ("chunking", {**DOCUMENT, "\ud800\n": 1}, 400, "bad_question"),
        ("chunking", {}, 400, "bad_document"),
        ("chunking", {"document": 7}, 400, "bad_document"),
        ("chunking", {"document": "\ud800"}, 400, "bad_document"),
        ("chunking", {"document": " "}, 400, "empty_document"),
        ("chunking", {**DOCUMENT, "chunk_size": 0}, 400, "bad_chunk_size"),
        ("chunking", {**DOCUMENT, "chunk_qty": "many"}, 400, "bad_chunk_qty"),
        ("chunking", {**DOCUMENT, "wanted": "all"}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "wanted": ["Bob"]}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "wanted": [BOB.address] * 17}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "wanted": [[]]}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "ranked": 0}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "priority": "now"}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "priority": [1]}, 400, "bad_terms"),
        ("chunking", {**DOCUMENT, "key": "a b"}, 400, "bad_key"),
        ("chunking", {**DOCUMENT, "key": 7}, 400, "bad_key"),
        ("chunking", {**DOCUMENT, "key": "\ud800"}, 400, "bad_key"),
        ("inference", {"prompt": "Why?", "entities": {}}, 400, "bad_question"),
        ("inference", {}, 400, "bad_prompt"),
        ("evidence", {"statement": "x" * 70_000}, 413, "too_large"),
        ("inference", {"prompt": "x" * (1 << 20)}, 413, "too_large"),
        ("keyword-recall", {"words": 1}, 400, "bad_keywords"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(
    quiet: Api, mechanism: str, content: Any, status: int, error: str
) -> None:
    assert said(quiet.ask(content, mechanism=mechanism)) == (status, error)


@pytest.mark.parametrize("name", ["organic-1", "%00", "..%2F..", "a" * 65, "'; DROP TABLE requests;--"])
def test_an_id_that_is_none_is_unknown(quiet: Api, name: str) -> None:
    for reply in (quiet.get(f"/v1/requests/{name}"), quiet.get(f"/v1/requests/{name}/events"), quiet.cancel(name)):
        assert reply.status_code == 404


def test_a_mechanism_that_stumbles_over_a_question_refuses_it_and_logs_nothing_of_it(
    quiet: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_: Any, __: Any, task: Any) -> None:
        raise ValueError(task.body)

    monkeypatch.setattr(type(load_mechanism("keyword-recall")), "pose", stumble)
    assert said(quiet.ask({"keywords": ["hush"]}, mechanism="keyword-recall")) == (400, "bad_question")
    assert "hush" not in caplog.text


def test_one_caller_cannot_fill_the_line(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.engine.requests.queue.MAX_OF_ONE", 2)
    assert [api.ask(DOCUMENT).status_code for _ in range(3)] == [202, 202, 503]
    full = api.ask(DOCUMENT)
    assert said(full) == (503, "queue_full")
    assert int(full.headers["Retry-After"]) > 0
    assert api.ask(DOCUMENT, "other").status_code == 202
    chunking = load_mechanism("chunking")
    with pytest.raises(WeighbeamError, match="queue_full"):
        enqueue_request(api.store, chunking, make_params(chunking), DOCUMENT, 1.0, RequestTerms(caller="token:app"))


def test_a_stream_tells_of_every_step_and_ends(api: Api) -> None:
    first, second = (api.ask(DOCUMENT).json()["id"] for _ in range(2))
    seen: list[tuple[str, Any]] = []
    for name, told in api.follow(second):
        seen.append((name, told and told["position"]))
        if seen[-1] == ("waiting", 2):
            api.cancel(first)
        elif seen[-1] == ("waiting", 1):
            take(api)
        elif name == "taken":
            assert told["round"].startswith("round-")
            fail(api, second)
        elif name == "failed":
            assert told["result"]["error"] == "no_valid_answer"
    assert seen == [("waiting", 2), ("waiting", 1), ("taken", None), ("failed", None)]
    api.watch.beat = 0.2
    idle = api.follow(api.ask(DOCUMENT).json()["id"])
    assert [next(idle)[0] for _ in range(3)] == ["waiting", "beat", "beat"]
    idle.close()


def test_streams_have_a_limit_and_whoever_leaves_makes_room(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    with open_api(store, streams=2) as api:
        request = api.ask(DOCUMENT).json()["id"]
        streams = [api.follow(request) for _ in range(2)]
        assert [next(stream)[0] for stream in streams] == ["waiting", "waiting"]
        assert said(api.get(f"/v1/requests/{request}/events")) == (503, "busy")
        assert api.look(request)["state"] == "waiting"
        streams[0].close()
        wait_until(lambda: len(api.watch.followers) == 1)
        third = api.follow(request)
        assert next(third)[0] == "waiting"
        api.cancel(request)
        assert next(third)[0] == next(streams[1])[0] == "cancelled"
        wait_until(lambda: not api.watch.followers)
    store.close()


def test_a_token_that_is_revoked_is_told_no_more(api: Api) -> None:
    request = api.ask(DOCUMENT).json()["id"]
    mine, admins = api.follow(request), api.follow(request, "boss")
    assert next(mine)[0] == next(admins)[0] == "waiting"
    revoke_token(api.store, show("app").split("_")[1], time.time())
    time.sleep(2.1)
    take(api)
    assert next(admins)[0] == "taken"
    fail(api, request, "nothing for you")
    assert list(mine) == []
    assert next(admins)[0] == "failed"


def test_all_who_follow_are_told_though_they_are_many(tmp_path: Path) -> None:
    """More than can wait before the threads that look."""
    store, many = Store(f"sqlite:///{tmp_path / 'journal.db'}"), 120
    with open_api(store, streams=many) as api, ThreadPoolExecutor(many) as threads:
        api.client = httpx2.Client(base_url=api.url, timeout=60, limits=httpx2.Limits(max_connections=many + 2))
        first, second = (api.ask(DOCUMENT).json()["id"] for _ in range(2))
        told = [threads.submit(lambda: [name for name, _ in api.follow(second)]) for _ in range(many)]
        try:
            wait_until(lambda: len(api.watch.followers) == many)
            api.cancel(first)
            time.sleep(2)
            assert len(api.watch.followers) == many
        finally:
            api.cancel(second)
        assert Counter(one.result(60)[-1] for one in told) == {"cancelled": many}
    store.close()


def test_a_list_of_large_questions_takes_little_memory(api: Api) -> None:
    large = {"body": {"document": "a" * 1_000_000}, "wanted": ["5F"], "ranked": False}
    names = [f"organic-{number}" for number in range(40)]
    with api.store.write() as connection:
        for number, name in enumerate(names):
            insert_request(connection, name, "chunking", float(number), large, RequestTerms(caller="token:app"))
    tracemalloc.start()
    listed, seen = list_requests(api.store, "token:app", 40), select_progress(api.store, names, 100.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [parse_progress(row).id for row in listed] == names[::-1]
    assert {(one.ranked, one.wanted) for one in seen.values()} == {(False, ("5F",))}
    assert peak < 4_000_000


def test_a_server_that_stops_ends_its_streams_in_order(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    with open_api(store) as api:
        stream = api.follow(api.ask(DOCUMENT).json()["id"])
        assert next(stream)[0] == "waiting"
        began = time.monotonic()
    assert time.monotonic() - began < 15
    assert list(stream) == []
    assert "Traceback" not in capfd.readouterr().err
    store.close()


def test_the_description_has_a_shape_and_an_example_for_every_question(quiet: Api) -> None:
    described = quiet.client.get("/openapi.json").json()
    for mechanism, field in (("chunking", "document"), ("inference", "prompt"), ("evidence", "statement")):
        put = described["paths"][f"/v1/{mechanism}/requests"]["post"]
        shape = put["requestBody"]["content"]["application/json"]["schema"]
        assert shape["properties"][field]["examples"]
        assert {"202", "400", "401", "403", "409", "413", "429", "503"} <= set(put["responses"])
    assert set(described["paths"]["/v1/requests/{request_id}"]) == {"get", "delete"}
    assert "text/event-stream" in str(described["paths"]["/v1/requests/{request_id}/events"]["get"])
