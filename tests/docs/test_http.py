"""The HTTP reference is what the app says of itself, and the scope it names is the one that is asked for."""

import importlib.util
import re
import sys
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI

from network.loopback import serve_app
from service.holders import bear, place
from tests_root import ROOT
from weighbeam.store.database import Store

SCOPES = ("ask", "read", "check", "submit", "operate", "admin")
INCLUDED = {"check": {"ask"}, "submit": {"ask"}}
DENIED = (401, 403)
HOST = {"Host": "validator.example"}


def load_writer():
    sys.path.insert(0, str(ROOT / "docs"))
    spec = importlib.util.spec_from_file_location("write_http", ROOT / "docs/write_http.py")
    module = sys.modules["write_http"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITER = load_writer()


@pytest.fixture(scope="module")
def opened(cache) -> Iterator[tuple[FastAPI, Store]]:
    with WRITER.open_app() as app_and_store:
        yield app_and_store


@pytest.fixture(scope="module")
def app(opened) -> FastAPI:
    return opened[0]


def test_the_reference_is_current(app: FastAPI) -> None:
    assert WRITER.write_http(app) in (ROOT / "docs/reference/http.md").read_text(), "run make docs"


def test_every_operation_and_page_is_in_the_reference(app: FastAPI) -> None:
    page = (ROOT / "docs/reference/http.md").read_text()
    operations = WRITER.list_operations(app.openapi())
    assert len(operations) == 40
    assert [path for method, path, _ in operations if f"### {method} {path}\n" not in page] == []
    assert [path for path in WRITER.list_pages(app) if f"`GET {path}`" not in page] == []


def find_scopes(client: httpx2.Client, method: str, path: str) -> set[str]:
    """Which scopes, each alone, are enough; `none` if it needs no token."""
    place_of = re.sub(r"\{\w+\}", "1", path)
    enough = set()
    for scope in ("none", *SCOPES):
        headers = {**HOST, **(bear(scope) if scope != "none" else {})}
        with client.stream(method, place_of, headers=headers) as response:
            if response.status_code not in DENIED:
                enough.add(scope)
    return enough


def test_the_scope_named_is_the_scope_asked_for(opened: tuple[FastAPI, Store]) -> None:
    app, store = opened
    for scope in SCOPES:
        place(store, scope, [scope], per_minute=1_000_000)
    wrong = {}
    with serve_app(app) as endpoint, httpx2.Client(base_url=f"http://{endpoint}", timeout=20) as client:
        for method, path, _ in WRITER.list_operations(app.openapi()):
            scope, found = WRITER.find_scope(method, path), find_scopes(client, method, path)
            expected = {scope, "admin", *INCLUDED.get(scope, ())} if scope else {"none", *SCOPES}
            if found != expected:
                wrong[f"{method} {path}"] = found
    assert wrong == {}
