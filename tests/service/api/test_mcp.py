"""The MCP server, by the protocol's own client over real HTTP: the tools are the reading API, no more and no less."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from prometheus_client import CollectorRegistry

from cli.run.test_validator import Running
from engine.organic_round import HOSTILE, SECRET
from network.loopback import serve_app
from service.holders import bear
from service.read_api import NAME, Api, serve_reading
from weighbeam.service.api.mcp import MAX_BODY, MAX_RESULT, TOOLS, VERSIONS, is_known_origin
from weighbeam.service.app import make_service_app
from weighbeam.service.http.threads import BoundedThreadPool
from weighbeam.store import tables

LAST = f"{NAME}-1"
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("mechanisms", {}, "/v1/mechanisms"),
    ("params", {"mechanism": NAME}, f"/v1/mechanisms/{NAME}/params"),
    ("leaderboard", {"mechanism": NAME}, f"/v1/mechanisms/{NAME}/standings"),
    ("rounds", {"limit": 1, "state": "scored"}, "/v1/rounds?limit=1&state=scored"),
    ("round", {"round_id": LAST}, f"/v1/rounds/{LAST}"),
    ("answer", {"round_id": LAST, "hotkey": "a"}, f"/v1/rounds/{LAST}/scores/a"),
    ("miner", {"hotkey": "a", "mechanism": None}, "/v1/miners/a"),
    ("miner_scores", {"hotkey": "a", "limit": 2}, "/v1/miners/a/scores?limit=2"),
    ("weights", {"mechanism": NAME}, f"/v1/weights?mechanism={NAME}"),
    ("submissions", {}, "/v1/submissions"),
    ("metagraph", {}, "/v1/metagraph"),
    ("alerts", {"level": "warning"}, "/v1/alerts?level=warning"),
    ("copies", {}, "/v1/copies"),
    ("compare_miners", {"a": "a", "b": "b"}, "/v1/compare/miners?a=a&b=b"),
    ("compare_rounds", {"b": LAST}, f"/v1/compare/rounds?b={LAST}"),
    ("compare_validators", {"mechanism": NAME}, f"/v1/compare/validators?mechanism={NAME}"),
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serve_reading(tmp_path_factory.mktemp("tools"), registry=CollectorRegistry()) as found:
        yield found


def talk(url: str, talked: Any, token: str | None = "reader") -> Any:
    """What `talked(client)` gives, with the protocol's own client."""

    async def run() -> Any:
        headers = {} if token is None else bear(token)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return await talked(client)

    return asyncio.run(run())


def call(api: Api, name: str, given: dict[str, Any], token: str = "reader") -> tuple[bool, Any]:
    """Whether the tool refused, and its JSON."""
    result: CallToolResult = talk(api.url, lambda client: client.call_tool(name, given), token)
    (content,) = result.content
    assert content.type == "text"
    assert content.text.isascii()
    return bool(result.is_error), json.loads(content.text)


def post(api: Api, body: Any, token: str | None = "reader", **headers: str) -> httpx2.Response:
    shown = {**({} if token is None else bear(token)), "Content-Type": "application/json", **headers}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(f"{api.url}/mcp", content=content, headers=shown, timeout=30)


def ask(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def test_the_client_finds_every_tool_with_its_parameters(api: Api) -> None:
    found = {tool.name: tool for tool in talk(api.url, lambda client: client.list_tools()).tools}
    assert set(found) == set(TOOLS)
    assert all(tool.annotations.read_only_hint and tool.description for tool in found.values())
    assert found["round"].input_schema["required"] == ["round_id"]
    limit = found["rounds"].input_schema["properties"]["limit"]
    assert (limit["type"], limit["minimum"], limit["maximum"]) == ("integer", 1, 500)


@pytest.mark.parametrize(("name", "given", "path"), CALLS, ids=[name for name, _, _ in CALLS])
def test_a_tool_gives_what_its_route_gives_the_same_caller(api: Api, name: str, given: Any, path: str) -> None:
    for token in ("reader", "boss"):
        assert call(api, name, given, token) == (False, api.get(path, token).json())


def test_what_is_withheld_from_a_reader_is_withheld_here(api: Api) -> None:
    refused, shown = call(api, "round", {"round_id": "mine"})
    assert (refused, shown["withheld"], SECRET in json.dumps(shown)) == (False, True, False)
    refused, shown = call(api, "round", {"round_id": "mine"}, "boss")
    assert (refused, shown["withheld"]) == (False, False)
    texts = [answer["payload"]["text"] for answer in shown["answers"]]
    assert HOSTILE in texts, "a text of a stranger is the string that it was"


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("rounds", {"limit": 501}, "bad_query"),
        ("rounds", {"most": 5}, "bad_query"),
        ("round", {"round_id": "nothing"}, "unknown_round"),
        ("miner", {"hotkey": "nobody"}, "unknown_hotkey"),
        ("leaderboard", {"mechanism": "<script>"}, "unknown_mechanism"),
        ("rounds", {"hotkey": "a\nb"}, "bad_query"),
    ],
)
def test_a_refusal_of_the_route_is_a_result_that_says_so(api: Api, name: str, given: Any, error: str) -> None:
    refused, told = call(api, name, given)
    assert (refused, told["error"]) == (True, error)


@pytest.mark.parametrize(
    ("token", "status", "error"),
    [(None, 401, "bad_token"), ("stranger", 401, "bad_token"), ("asker", 403, "missing_scope")],
)
@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call", "nothing"])
def test_nothing_is_told_without_the_scope(api: Api, method: str, token: str | None, status: int, error: str) -> None:
    refused = post(api, ask(method, name="overview"), token)
    assert (refused.status_code, refused.json()["error"]) == (status, error)
    assert ("WWW-Authenticate" in refused.headers) == (status == 401)


def test_calls_of_tools_spend_the_rate_of_the_reading_api(tmp_path: Path) -> None:
    with serve_reading(tmp_path, registry=CollectorRegistry(), per_minute=0.01) as slow:
        told = [post(slow, ask("tools/call", name="mechanisms")).json()["result"] for _ in range(10)]
        assert not any(one["isError"] for one in told)
        assert slow.refuse("/v1/mechanisms") == (429, "rate_limited")
        limited = post(slow, ask("ping"))
        assert (limited.status_code, limited.json()["error"]) == (429, "rate_limited")
        assert int(limited.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"not JSON", 400, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', 400, -32700),
        (b"[" * 5000, 400, -32700),
        ([ask("ping")], 400, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({**ask("ping"), "id": {"a": 1}}, 400, -32600),
        ({**ask("ping"), "params": [1]}, 400, -32600),
        (ask("resources/list"), 200, -32601),
        (ask("tools/call", name="revoke"), 200, -32602),
        (ask("tools/call", name="round"), 200, -32602),
        (ask("tools/call", name="round", arguments={"round_id": "../config"}), 200, -32602),
        (ask("tools/call", name="round", arguments={"round_id": ".."}), 200, -32602),
        (ask("tools/call", name="rounds", arguments={"limit": [1]}), 200, -32602),
        (ask("tools/call", name="rounds", arguments={"hotkey": "\ud800"}), 200, -32602),
        (ask("tools/call", name="rounds", arguments="all"), 200, -32602),
    ],
)
def test_a_message_of_the_wrong_form_is_refused(api: Api, body: Any, status: int, code: int) -> None:
    refused = post(api, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), refused.text


def test_versions_notifications_and_methods_are_as_the_protocol_says(api: Api) -> None:
    for asked, given in [*((version, version) for version in VERSIONS), ("1999-01-01", VERSIONS[0])]:
        told = post(api, ask("initialize", protocolVersion=asked)).json()["result"]
        assert (told["protocolVersion"], told["capabilities"]) == (given, {"tools": {}})
    noted = post(api, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (noted.status_code, noted.content) == (202, b"")
    other = post(api, ask("ping"), **{"MCP-Protocol-Version": "1999-01-01"})
    assert (other.status_code, other.json()["error"]["code"]) == (400, -32600)
    assert post(api, ask("ping")).json() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert api.get("/mcp").status_code == httpx2.delete(f"{api.url}/mcp").status_code == 405


def test_a_page_of_another_site_may_not_call(api: Api) -> None:
    refused = post(api, ask("ping"), Origin="https://evil.example")
    assert (refused.status_code, refused.json()["error"]) == (403, "missing_scope")
    assert post(api, ask("ping"), Origin=api.url).status_code == 200


def test_a_page_of_a_site_in_the_settings_may_call() -> None:
    site, pool = "https://app.example", BoundedThreadPool(1, 1)
    with serve_app(make_service_app(pool, CollectorRegistry(), [site])) as endpoint:
        asked = {
            "Origin": site,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
        }
        assert httpx2.options(f"http://{endpoint}/mcp", headers=asked).status_code == 200
        assert (
            httpx2.options(f"http://{endpoint}/mcp", headers={**asked, "Origin": "https://x.example"}).status_code
            == 400
        )
    pool.close()
    assert is_known_origin(site, [site])


@pytest.mark.parametrize(("reading", "host", "status"), [("local", "127.0.0.1", 200), ("local", "evil.example", 401)])
def test_reading_is_open_here_where_it_is_open_there(tmp_path: Path, reading: str, host: str, status: int) -> None:
    with serve_reading(tmp_path, registry=CollectorRegistry(), reading=reading) as served:
        assert served.get("/v1/mechanisms", None, Host=host).status_code == status
        told = post(served, ask("tools/call", name="mechanisms"), None, Host=host)
        assert told.status_code == status
        assert status != 200 or not told.json()["result"]["isError"]


def test_messages_and_results_are_capped(api: Api) -> None:
    assert post(api, b" " * (MAX_BODY + 1)).status_code == 413
    row = {"mechanism": NAME, "code": "clock_skew", "level": "warning", "at": 1.0, "text": "x" * 4000}
    columns = {column.name for column in tables.alerts.columns}
    with api.store.write() as connection:
        connection.execute(
            tables.alerts.insert(), [{key: value for key, value in row.items() if key in columns} for _ in range(200)]
        )
    whole = api.get("/v1/alerts?limit=500")
    assert len(whole.content) > MAX_RESULT
    assert call(api, "alerts", {"limit": 500})[1]["error"] == "too_large"
    refused, told = call(api, "alerts", {"limit": 10})
    assert (refused, len(told["alerts"])) == (False, 10)


def test_the_tools_are_served_where_they_are_asked_for_alone(tmp_path: Path) -> None:
    (tmp_path / "weighbeam.toml").write_text('[service]\nlisten = "127.0.0.1:0"\n', "utf-8")
    for words, answered in ((("--mcp",), True), ((), False)):
        server = Running(tmp_path / "serve.log", "serve", *words, "--config", str(tmp_path / "weighbeam.toml"))
        server.wait_for(r"served on http://127\.0\.0\.1:\d+")
        url = server.log.read_text().partition("served on ")[2].split()[0]
        if answered:
            names = [tool.name for tool in talk(url, lambda client: client.list_tools(), None).tools]
            assert names == list(TOOLS)
        else:
            assert httpx2.post(f"{url}/mcp", json=ask("ping")).status_code == 404
        assert server.end(signal.SIGTERM) == 0
        (tmp_path / "serve.log").unlink()
