"""The app of every process that serves: what it tells of itself; the APIs and the pages are added to it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry
from starlette.exceptions import HTTPException

from weighbeam import __version__
from weighbeam.service.cross_origin import add_origins
from weighbeam.service.front import Front, Reply
from weighbeam.service.health import add_metrics
from weighbeam.service.pool import Pool

STALLED = 503
Report = Callable[[], tuple[int, dict[str, Any]]]
"""The status and the JSON of /health."""


def make_service_app(
    pool: Pool,
    registry: CollectorRegistry,
    origins: Sequence[str] = (),
    report: Report | None = None,
    front: Front | None = None,
) -> FastAPI:
    """`/health`, `/metrics` and `/openapi.json`; no page needs anything from elsewhere. `origins` may call.

    `report` says how the process is; without one, whether something has been worked on for a minute.
    With a `front`, `/metrics` are for whoever may read; how the process is may be asked by all.
    """
    told = report or partial(report_health, pool)
    app = FastAPI(title="Weighbeam", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_exception_handler(HTTPException, tell_missing)
    add_origins(app, origins)
    add_metrics(app, registry, front)

    @app.get("/health", responses={STALLED: {"description": "it stands still"}})
    async def tell_health() -> Response:
        """503 once nothing gets on."""
        return Reply(*told()).write()

    return app


def report_health(pool: Pool) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of /health."""
    stalled = pool.is_stalled()
    told = {"version": __version__, "status": "stalled" if stalled else "ok"}
    return STALLED if stalled else 200, {**told, "inside": pool.inside, "most": pool.most}


async def tell_missing(request: Request, fault: Exception) -> Response:
    """No such path or method, told like every other refusal."""
    status = fault.status_code if isinstance(fault, HTTPException) else 500
    told = {404: "there is no such path", 405: "this path does not take this method"}.get(status, "refused")
    content = {"error": "unknown_route", "message": f"{request.method}: {told}", "remedy": "see /openapi.json"}
    allowed = {name: value for name, value in (getattr(fault, "headers", None) or {}).items() if name == "Allow"}
    return Reply(status, content, allowed).write()
