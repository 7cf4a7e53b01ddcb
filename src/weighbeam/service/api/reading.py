"""The reading API (docs/read-api.md): overview, settings, health, alerts, attacks and copies, and all its routes."""

from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Response
from pydantic import Field

from weighbeam.engine.views.alert_lines import LEVELS, list_alerts
from weighbeam.engine.views.attacks import AttackSummary, select_attacks
from weighbeam.engine.views.copies import list_copies
from weighbeam.engine.views.overview import Overview, select_overview
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.events import EventStreams, add_events
from weighbeam.service.api.mechanisms import add_mechanisms
from weighbeam.service.api.miners import add_miners
from weighbeam.service.api.query import FROM_DIGITS, HotkeyName, MechanismPageQuery, OneOf, PageQuery, Query
from weighbeam.service.api.reader import CODES, ReadingApi, ReadingContext
from weighbeam.service.api.rounds import add_rounds
from weighbeam.service.api.routes import BASE
from weighbeam.service.api.weights import add_weights
from weighbeam.service.http.authentication import Authenticator
from weighbeam.service.http.cache import StoreCache
from weighbeam.service.http.pipeline import ApiReply, RequestPipeline
from weighbeam.service.http.redaction import redact_alert, redact_attacks, redact_overview
from weighbeam.service.http.threads import ThreadPools

OVERVIEW_SECONDS = 5.0
HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"model": reading_shapes.HealthShown, "description": "it gets on"},
    503: {"model": reading_shapes.HealthShown, "description": "it stands still"},
}


def add_whole(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="overview"), reader.shown

    @route("/overview", Overview, seconds=OVERVIEW_SECONDS)
    def overview(_: Query) -> Any:
        """How each mechanism is doing, and the alerts that are open."""
        return redact_overview(select_overview(shown.store, list(shown.mechanisms), shown.now()))

    @route("/config", reading_shapes.SettingsShown, scope="admin")
    def config(_: Query) -> Any:
        """Every setting with its value, secrets hidden; needs the scope admin."""
        return {"settings": shown.settings()}

    @app.get(f"{BASE}/health", responses=HEALTH, response_class=Response, tags=["overview"])
    async def health() -> Response:
        """As /health; needs no token."""
        return ApiReply(*shown.health()).write()


ATTACKS_SECONDS = 30.0


class AlertsQuery(MechanismPageQuery):
    code: Annotated[str | None, Field(description="of this code", examples=["degraded_mode"])] = None
    level: Annotated[str | None, OneOf(LEVELS), Field(description="of this level")] = None


class AttacksQuery(Query):
    hours: Annotated[int, Field(ge=1, le=720, description="so far back"), FROM_DIGITS] = 24


class CopiesQuery(PageQuery):
    hotkey: HotkeyName = None


def add_trouble(app: FastAPI, reader: ReadingApi) -> None:
    route, store = partial(reader.declare, app, tag="trouble"), reader.shown.store

    @route("/alerts", reading_shapes.AlertsShown, query=AlertsQuery)
    def alerts(given: AlertsQuery) -> Any:
        """Alerts, newest first, and what to do about each."""
        page = list_alerts(store, given.mechanism, given.code, given.level, given.cursor, given.limit)
        return {"alerts": [redact_alert(line) for line in page.items], "next": page.next}

    @route("/attacks", AttackSummary, query=AttacksQuery, seconds=ATTACKS_SECONDS)
    def attacks(given: AttacksQuery) -> Any:
        """Who tried what in the last hours: copies, suspects, and contributions that were refused."""
        return redact_attacks(select_attacks(store, reader.shown.now(), given.hours))

    @route("/copies", reading_shapes.CopiesShown, query=CopiesQuery)
    def copies(given: CopiesQuery) -> Any:
        """Who gave the same answer as somebody else, newest first; no clean-up removes these records."""
        page = list_copies(store, given.hotkey, given.cursor, given.limit)
        return {"copies": page.items, "next": page.next}


MAX_BODY = 1 << 10


def add_reading(
    app: FastAPI, authenticator: Authenticator, shown: ReadingContext, pools: ThreadPools, streams: int
) -> ReadingApi:
    """The routes, with so many live streams at most; gives what answers them, for pages of the same app."""
    pipeline = RequestPipeline(
        authenticator, MAX_BODY, CODES, pools.reading.run, pools.proofs.run, pools.tokens.run, pools.reading.is_crowded
    )
    reader = ReadingApi(pipeline, shown, StoreCache(shown.store))
    for add in (add_whole, add_rounds, add_mechanisms, add_miners, add_weights, add_trouble):
        add(app, reader)
    add_events(app, pipeline, EventStreams(shown.store, streams, pools.watch.run))
    return reader
