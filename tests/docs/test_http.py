"""The HTTP reference is what the app says of itself, and the scope it names is the one that is asked for."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

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


class Served(NamedTuple):
    writer: Any
    app: FastAPI
    store: Store


def load_writer() -> Any:
    sys.path.insert(0, str(ROOT / "tools/docs"))
    spec = importlib.util.spec_from_file_location("write_http", ROOT / "tools/docs/write_http.py")
    module = sys.modules["write_http"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def served(cache) -> Iterator[Served]:
    writer = load_writer()
    with writer.open_app() as (app, store):
        yield Served(writer, app, store)


def test_the_reference_is_current_and_has_every_operation_and_page(served: Served) -> None:
    page, writer = (ROOT / "docs/reference/http.md").read_text(), served.writer
    operations = writer.list_operations(served.app.openapi())
    assert len(operations) == 52
    assert [path for method, path, _ in operations if f"### {method} {path}\n" not in page] == []
    shown = [path.replace(":path", "") for path in writer.list_pages(served.app)]
    assert [path for path in shown if f"`GET {path}`" not in page] == []
    assert writer.write_http(served.app) in page, "run make docs"


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


def test_the_scope_named_is_the_scope_asked_for(served: Served) -> None:
    app, writer = served.app, served.writer
    for scope in SCOPES:
        place(served.store, scope, [scope], per_minute=1_000_000)
    wrong = {}
    with serve_app(app) as endpoint, httpx2.Client(base_url=f"http://{endpoint}", timeout=20) as client:
        for method, path, _ in writer.list_operations(app.openapi()):
            scope, found = writer.find_scope(method, path), find_scopes(client, method, path)
            expected = {scope, "admin", *INCLUDED.get(scope, ())} if scope else {"none", *SCOPES}
            if found != expected:
                wrong[f"{method} {path}"] = found
    assert wrong == {}
