"""The reading API (docs/guides/read-api.md): overview, settings, health, miners, weights, alerts, attacks, copies."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Response
from pydantic import Field

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.alert_lines import LEVELS, list_alerts
from weighbeam.engine.views.attacks import AttackSummary, name_attackers, select_attacks
from weighbeam.engine.views.copies import list_copies
from weighbeam.engine.views.miner import list_scores
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.overview import Overview, select_overview
from weighbeam.engine.views.paging import cut_page, parse_cursor
from weighbeam.engine.views.weights import STATES, list_submissions, list_weights
from weighbeam.engine.weights.metagraphs import GraphView, select_metagraph
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.comparisons import add_comparisons
from weighbeam.service.api.events import EventStreams, add_events
from weighbeam.service.api.mechanisms import add_mechanisms, choose_mechanism, find_shown_mechanism
from weighbeam.service.api.query import (
    FROM_DIGITS,
    HotkeyName,
    MechanismPageQuery,
    MechanismQuery,
    OneOf,
    PageQuery,
    Query,
)
from weighbeam.service.api.reader import CODES, ReadingApi, ReadingContext
from weighbeam.service.api.rounds import add_rounds
from weighbeam.service.api.routes import BASE
from weighbeam.service.api.tables import add_tables
from weighbeam.service.http.authentication import Authenticator
from weighbeam.service.http.cache import StoreCache
from weighbeam.service.http.pipeline import ApiReply, RequestPipeline
from weighbeam.service.http.redaction import redact_alert, redact_attacks, redact_overview, redact_submission
from weighbeam.service.http.threads import ThreadPools

OVERVIEW_SECONDS = 5.0
HEALTH: dict[int | str, dict[str, Any]] = {
    200: {"model": reading_shapes.HealthShown, "description": "it makes progress"},
    503: {"model": reading_shapes.HealthShown, "description": "it is stalled"},
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


def add_miners(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="miners", refused=(404,)), reader.shown

    @route("/miners/{hotkey}", reading_shapes.MinerShown, query=MechanismQuery)
    def miner(given: MechanismQuery, hotkey: str) -> Any:
        """One miner by mechanism: place, standing over time, why answers failed, what would help."""
        name = given.mechanism
        names = list(shown.mechanisms) if name is None else [find_shown_mechanism(shown, name)[0].name]
        book = shown.load_names()
        meant = book.resolve(hotkey, name)
        found = _gather_views(reader, meant, names)
        if not found:
            raise _refuse(hotkey)
        views = {one: book.name_line(view, one) for one, view in found.items()}
        return {"hotkey": meant, "name": book.name(meant), "uid": book.uids.get(meant), "mechanisms": views}

    @route("/miners/{hotkey}/scores", reading_shapes.Scores, query=MechanismPageQuery)
    def scores(given: MechanismPageQuery, hotkey: str) -> Any:
        """One miner's scores, newest first."""
        meant = shown.resolve(hotkey, given.mechanism)
        page = list_scores(shown.store, meant, given.mechanism, given.cursor, given.limit)
        if not page.items and given.cursor is None:
            raise _refuse(hotkey)
        return {"hotkey": meant, "scores": page.items, "next": page.next}


def _gather_views(reader: ReadingApi, hotkey: str, names: list[str]) -> dict[str, Any]:
    """By mechanism, where the miner is known."""
    found = {}
    for name in names:
        try:
            view = reader.read_miner(reader.shown.mechanisms[name][0], hotkey)
        except WeighbeamError as fault:
            if fault.code != "unknown_hotkey":
                raise
        else:
            found[name] = view
    return found


def _refuse(hotkey: str) -> WeighbeamError:
    return WeighbeamError("unknown_hotkey", f"{hotkey[:100]!r} has no score here", "see the standings")


class SubmissionsQuery(MechanismPageQuery):
    state: Annotated[str | None, OneOf(STATES), Field(description="in this state")] = None


def add_weights(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="weights"), reader.shown

    @route("/weights", reading_shapes.WeightsShown, query=MechanismPageQuery, refused=(404,))
    def weights(given: MechanismPageQuery) -> Any:
        """Weights of a mechanism, newest first, and how concentrated they are; `mechanism` may be left out if one is
        run alone."""
        mechanism, after = choose_mechanism(shown, given.mechanism), parse_cursor(given.cursor, "weights", int)
        lines = list_weights(shown.store, mechanism, given.limit + 1, after[0] if after else None)
        page = cut_page(lines, given.limit, "weights", lambda line: (line.id,))
        book = shown.load_names()
        named = [replace(line, shares=book.name_all(line.shares, mechanism)) for line in page.items]
        return {"mechanism": mechanism, "weights": named, "next": page.next}

    @route("/submissions", reading_shapes.Submissions, query=SubmissionsQuery)
    def submissions(given: SubmissionsQuery) -> Any:
        """Every intent to set weights, newest first: what was planned, and how far it got."""
        page = list_submissions(shown.store, given.mechanism, given.state, given.cursor, given.limit)
        return {"submissions": [redact_submission(line) for line in page.items], "next": page.next}

    @route("/metagraph", reading_shapes.Metagraphs, query=MechanismQuery, refused=(404,))
    def metagraph(given: MechanismQuery) -> Any:
        """The latest metagraph read from the chain, by mechanism."""
        name = given.mechanism
        names = list(shown.mechanisms) if name is None else [choose_mechanism(shown, name)]
        book, graphs = shown.load_names(), {name: select_metagraph(shown.store, name) for name in names}
        return {"metagraphs": {name: graph and name_neurons(graph, book) for name, graph in graphs.items()}}


def name_neurons(graph: GraphView, book: NameBook) -> GraphView:
    return replace(graph, neurons=book.name_all(graph.neurons, graph.mechanism))


def add_trouble(app: FastAPI, reader: ReadingApi) -> None:
    route, store = partial(reader.declare, app, tag="trouble"), reader.shown.store

    @route("/alerts", reading_shapes.AlertsShown, query=AlertsQuery)
    def alerts(given: AlertsQuery) -> Any:
        """Alerts, newest first, and what to do about each."""
        page = list_alerts(store, given.mechanism, given.code, given.level, given.cursor, given.limit)
        return {"alerts": [redact_alert(line) for line in page.items], "next": page.next}

    @route("/attacks", AttackSummary, query=AttacksQuery, seconds=ATTACKS_SECONDS)
    def attacks(given: AttacksQuery) -> Any:
        """Attacks of the last hours: copies, suspects and refused contributions."""
        seen = select_attacks(store, reader.shown.now(), given.hours)
        return redact_attacks(name_attackers(seen, reader.shown.load_names()))

    @route("/copies", reading_shapes.CopiesShown, query=CopiesQuery)
    def copies(given: CopiesQuery) -> Any:
        """Duplicate answers, newest first; retention keeps these records."""
        book = reader.shown.load_names()
        hotkey = None if given.hotkey is None else book.resolve(given.hotkey)
        page = list_copies(store, hotkey, given.cursor, given.limit)
        named = [replace(one, names=book.name_each(one.hotkeys, one.mechanism)) for one in page.items]
        return {"copies": named, "next": page.next}


MAX_BODY = 1 << 10
ROUTES = (
    add_whole,
    add_rounds,
    add_mechanisms,
    add_miners,
    add_weights,
    add_trouble,
    add_comparisons,
    add_tables,
)


def add_reading(
    app: FastAPI, authenticator: Authenticator, shown: ReadingContext, pools: ThreadPools, streams: int
) -> ReadingApi:
    """The routes, with so many live streams at most; gives what answers them, for pages of the same app."""
    pipeline = RequestPipeline(
        authenticator, MAX_BODY, CODES, pools.reading.run, pools.proofs.run, pools.tokens.run, pools.reading.is_crowded
    )
    reader = ReadingApi(pipeline, shown, StoreCache(shown.store))
    for add in (
        add_whole,
        add_rounds,
        add_mechanisms,
        add_miners,
        add_weights,
        add_comparisons,
        add_trouble,
        add_tables,
    ):
        add(app, reader)
    add_events(app, pipeline, EventStreams(shown.store, streams, pools.watch.run))
    return reader
