"""How a route of an API is declared: its method, what it gives and refuses, and that a token may be shown."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Response, Security
from fastapi.security import HTTPBearer

SHOWN = HTTPBearer(auto_error=False, description="a token of `weighbeam serve token new`; signing instead: docs/api.md")
Handler = Callable[..., Any]


def declare_route(
    app: FastAPI, method: str, path: str, responses: dict[Any, Any], extra: dict[str, Any] | None = None, tag: str = ""
) -> Callable[[Handler], Handler]:
    return app.api_route(
        path,
        methods=[method],
        responses=responses,
        openapi_extra=extra,
        response_class=Response,
        dependencies=[Security(SHOWN)],
        tags=[tag],
    )
