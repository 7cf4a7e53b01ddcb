"""Write the operations in docs/reference/http.md from what the real app says of itself in /openapi.json."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from tell_schema import PLAIN, follow, is_made_up, list_fields, tell_type
from wrap import wrap_page

from weighbeam.app.settings.sources import load_settings
from weighbeam.app.validator.build import build_validator
from weighbeam.app.validator.run import make_validator_app
from weighbeam.demo.subnet_files import save_subnet
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

COMMON = {
    "304": "as the ETag in `If-None-Match` says you have it",
    "400": "it cannot be taken; the code says why",
    "401": "no token and no valid signature",
    "403": "the caller may not do this",
    "413": "the body is too large",
    "429": "too many calls; `Retry-After` says how long to wait",
    "503": "busy; `Retry-After` says how long to wait",
}
TITLES = {
    "": "The process itself",
    "overview": "Overview",
    "rounds": "Rounds",
    "mechanisms": "Mechanisms",
    "miners": "Miners",
    "weights": "Weights",
    "comparisons": "Comparisons",
    "tables": "Tables as files",
    "trouble": "Trouble",
    "events": "Events",
    "requests": "Questions to miners",
    "challenges": "Challenges",
    "novelty": "Novelty",
}
PLACES = {
    "round_id": "the round",
    "hotkey": "the miner",
    "mechanism": "the mechanism's name",
    "request_id": "the id that asking gave",
    "challenge_id": "your id of it",
    "contributor": "your id of who contributed, escaped",
    "contribution": "the number in its receipt",
}
OPEN = ("/health", "/v1/health", "/openapi.json")
OPERATE = ("/release", "/reject", "/withdraw")
PAGES = {
    "/": "overview",
    "/mechanisms/{mechanism}": "leaderboard",
    "/rounds": "rounds",
    "/compare/miners": "two miners side by side",
    "/compare/rounds": "two rounds side by side",
    "/compare/validators": "two validators side by side",
    "/rounds/{round_id}": "a round",
    "/rounds/{round_id}/{hotkey}": "an answer",
    "/miners/{hotkey}": "a miner",
    "/weights": "weights",
    "/novelty": "novelty",
    "/novelty/held": "held texts, to release or reject with a token",
    "/novelty/contributors": "what contributors earned",
    "/novelty/contributors/{contributor}": "a contributor",
    "/novelty/contributions/{number}": "a contribution",
    "/attacks": "attacks",
    "/ask": "ask",
    "/docs": "this reference, of the server at hand",
    "/sign-in": "sign in with a token",
}


@contextmanager
def open_app() -> Iterator[tuple[FastAPI, Store]]:
    """All that a validator of every mechanism serves; no round is played."""
    with tempfile.TemporaryDirectory() as folder:
        save_subnet(Path(folder) / "subnet")
        loaded = load_settings(Path(folder) / "subnet" / "validator-1.toml", {})
        built, pools = build_validator(loaded), ThreadPools()
        app, _ = make_validator_app(built, loaded, loaded.settings.validator.listen or "", pools, CollectorRegistry())
        try:
            yield app, built.runtime.store
        finally:
            pools.close()
            built.runtime.store.close()


def list_operations(document: Mapping[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of each."""
    return [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def find_scope(method: str, path: str) -> str | None:
    """The scope an operation needs; a test calls each with tokens of one scope."""
    if path in OPEN:
        return None
    if path == "/v1/config":
        return "admin"
    if path.startswith(("/v1/requests", "/v1/challenges")) or path.endswith("/requests"):
        return "ask"
    if method == "POST":
        return "check" if path.endswith("/check") else "operate" if path.endswith(OPERATE) else "submit"
    return "read"


def write_http(app: FastAPI) -> str:
    document = app.openapi()
    rows = ["| status | means |", "| --- | --- |", *(f"| {status} | {told} |" for status, told in COMMON.items())]
    by_tag: dict[str, list[str]] = {}
    for method, path, operation in list_operations(document):
        written = write_operation(document, method, path, operation)
        by_tag.setdefault(next(iter(operation.get("tags", [])), ""), []).append(written)
    sections = [f"## {TITLES[tag]}\n\n" + "\n".join(by_tag[tag]) for tag in TITLES if tag in by_tag]
    return wrap_page("\n".join(rows) + "\n\n" + "\n".join([*sections, write_pages(app)]).rstrip())


def write_operation(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> str:
    scope = find_scope(method, path)
    told = operation.get("description", "Numbers for Prometheus.").split("\n")[0].rstrip(".")
    parts = [f"### {method} {path}", "", f"{told}. Scope: {f'`{scope}`' if scope else 'none'}.", ""]
    parts += write_parameters(operation.get("parameters", []))
    body = operation.get("requestBody")
    if body:
        parts += write_body(document, body["content"]["application/json"]["schema"])
    return "\n".join([*parts, write_statuses(document, operation["responses"]), ""])


def write_parameters(parameters: list[dict[str, Any]]) -> list[str]:
    if not parameters:
        return []
    rows = ["| parameter | in | type | meaning |", "| --- | --- | --- | --- |"]
    for given in parameters:
        meaning = given.get("description") or PLACES[given["name"]]
        rows.append(f"| `{given['name']}` | {given['in']} | {tell_type(given['schema'])} | {meaning} |")
    return [*rows, ""]


def write_body(document: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    shape, rows = follow(document, schema), ["| field | type | meaning |", "| --- | --- | --- |"]
    needed = shape.get("required", [])
    for name, field in shape.get("properties", {}).items():
        mark = "" if name in needed else "?"
        rows.append(f"| `{name}`{mark} | {tell_type(follow(document, field))} | {field.get('description', '')} |")
    extra = "" if shape.get("additionalProperties") is False else " Other fields are the task's own."
    return [f"Body, a JSON object; `?` may be left out.{extra}", "", *rows, ""]


def write_statuses(document: Mapping[str, Any], responses: Mapping[str, Any]) -> str:
    """What it answers; the shape by the names of its fields. FastAPI's own 422 and 200 never come."""
    shown, refused = [], []
    for status, response in sorted(responses.items()):
        told = response["description"]
        if is_made_up(status, response, responses):
            continue
        if COMMON.get(status, "").replace("`", "") == told:
            refused.append(f"`{status}`")
            continue
        fields = list_fields(document, response) if status < "300" else ""
        shown.append(f"`{status}`{'' if told == PLAIN else f' {told}'}{fields}")
    return "; ".join(shown) + (f". As everywhere: {', '.join(refused)}." if refused else ".")


def list_pages(app: FastAPI) -> list[str]:
    """The paths of the dashboard's pages."""
    hidden = [route.path for route in app.routes if isinstance(route, APIRoute) and not route.include_in_schema]
    return [path.replace(":path}", "}") for path in hidden if not path.startswith("/static/")]


def write_pages(app: FastAPI) -> str:
    rows = ["| page | shows |", "| --- | --- |"]
    rows += [f"| `GET {path}` | {PAGES[path]} |" for path in list_pages(app)]
    told = (
        "HTML, for all who may read: [the dashboard](../guides/dashboard.md). "
        "`GET /static/{name}` has styles and scripts."
    )
    return "\n".join(["## Pages", "", told, "", *rows, ""])
