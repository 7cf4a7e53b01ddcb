"""The whole at a glance, over HTTP: how it is doing, its settings, its health."""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.engine.insight.overview import Overview, read_overview
from weighbeam.service import read_shapes
from weighbeam.service.front import Reply
from weighbeam.service.hide_places import hide_in_overview
from weighbeam.service.query import Given
from weighbeam.service.read_routes import BASE, declare
from weighbeam.service.reader import Reader

OVERVIEW_SECONDS = 5.0
HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"model": read_shapes.HealthShown, "description": "it gets on"},
    503: {"model": read_shapes.HealthShown, "description": "it stands still"},
}


def add_whole(app: FastAPI, reader: Reader) -> None:
    route, shown = partial(declare, app, tag="overview"), reader.shown

    @route("/overview", Overview)
    async def overview(request: Request) -> Response:
        """How each mechanism is doing, and the alerts that are open."""

        def read(_: Given) -> Any:
            return hide_in_overview(read_overview(shown.store, list(shown.mechanisms), shown.now()))

        return await reader.answer(request, read, seconds=OVERVIEW_SECONDS)

    @route("/config", read_shapes.SettingsShown)
    async def config(request: Request) -> Response:
        """Every setting with its value, secrets hidden; needs the scope admin."""
        return await reader.answer(request, lambda _: {"settings": shown.settings()}, scope="admin")

    @app.get(f"{BASE}/health", responses=HEALTH, response_class=Response, tags=["overview"])
    async def health() -> Response:
        """As /health; needs no token."""
        return Reply(*shown.health()).write()
