"""The app of every process that serves: health, metrics and cross-origin rules; APIs and pages are added to it."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from weighbeam import __version__
from weighbeam.core.errors import require
from weighbeam.network.miner_app import NO_TELEMETRY
from weighbeam.service.http.metrics import add_metrics
from weighbeam.service.http.pipeline import ApiReply, RequestPipeline
from weighbeam.service.http.threads import BoundedThreadPool

ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]{1,255}", re.ASCII)
HEADERS = ("Authorization", "Idempotency-Key", "MCP-Protocol-Version")


def add_origins(app: FastAPI, origins: Sequence[str]) -> None:
    """Lets the browser show those sites our replies to GET and POST; a token has to be sent, cookies never are."""
    for origin in origins:
        sound = ORIGIN.fullmatch(origin) is not None
        require(sound, "bad_config", f"service.origins: {origin!r} is not a site", "write each as https://app.example")
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=list(HEADERS)
        )


STALLED = 503
Report = Callable[[], tuple[int, dict[str, Any]]]
"""The status and the JSON of /health."""


def make_service_app(
    pool: BoundedThreadPool,
    registry: CollectorRegistry,
    origins: Sequence[str] = (),
    report: Report | None = None,
    pipeline: RequestPipeline | None = None,
) -> FastAPI:
    """`/health`, `/metrics` and `/openapi.json`; no page needs anything from elsewhere. `origins` may call.

    `report` says how the process is; without one, whether something has been worked on for a minute.
    With a `pipeline`, `/metrics` is only for callers that may read; `/health` is open to all.
    """
    told = report or partial(report_health, pool)
    app = FastAPI(
        title="Weighbeam",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.add_exception_handler(HTTPException, refuse_unknown_route)
    add_origins(app, origins)
    add_metrics(app, registry, pipeline)

    @app.get("/health", responses={STALLED: {"description": "it is stalled"}})
    async def tell_health() -> Response:
        """200 while the process makes progress, 503 once it is stalled."""
        return ApiReply(*told()).write()

    return app


def report_health(pool: BoundedThreadPool) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of /health."""
    stalled = pool.is_stalled()
    told = {"version": __version__, "status": "stalled" if stalled else "ok"}
    return STALLED if stalled else 200, {**told, "inside": pool.inside, "limit": pool.limit}


async def refuse_unknown_route(request: Request, fault: Exception) -> Response:
    """Refuse an unknown path or method like every other refusal."""
    status = fault.status_code if isinstance(fault, HTTPException) else 500
    told = {404: "there is no such path", 405: "this path does not take this method"}.get(status, "refused")
    content = {"error": "unknown_route", "message": f"{request.method}: {told}", "remedy": "see /openapi.json"}
    allowed = {name: value for name, value in (getattr(fault, "headers", None) or {}).items() if name == "Allow"}
    return ApiReply(status, content, allowed).write()
