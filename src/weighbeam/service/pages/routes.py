"""The dashboard's routes; pages only read, changes go through the API with a token."""

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.service.api.query import collect_query
from weighbeam.service.api.reader import ReadingApi
from weighbeam.service.api.routes import Handler
from weighbeam.service.app import refuse_unknown_route
from weighbeam.service.http.cache import LAST_SECONDS, StoreCache
from weighbeam.service.http.callers import TOKEN, Caller
from weighbeam.service.http.pipeline import ApiReply, RequestPipeline
from weighbeam.service.pages import compare
from weighbeam.service.pages.answer import show_answer
from weighbeam.service.pages.attacks import NAMES as ATTACK_NAMES
from weighbeam.service.pages.attacks import show_attacks
from weighbeam.service.pages.leaderboard import NAMES as BOARD_NAMES
from weighbeam.service.pages.leaderboard import show_leaderboard
from weighbeam.service.pages.miner import NAMES as MINER_NAMES
from weighbeam.service.pages.miner import show_miner
from weighbeam.service.pages.overview import show_overview
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.reference import PATH as REFERENCE_PATH
from weighbeam.service.pages.reference import show_reference
from weighbeam.service.pages.rendering import page_response, render
from weighbeam.service.pages.rounds import ANSWER_NAMES, ROUND_NAMES, show_round, show_rounds
from weighbeam.service.pages.static_files import add_static
from weighbeam.service.pages.weights import NAMES as WEIGHT_NAMES
from weighbeam.service.pages.weights import show_weights


def show_ask(data: PageData) -> str:
    kinds = []
    for run in data.runs():
        name = run.mechanism.name
        if run.mechanism.kind == "asked":
            page = run.mechanism.page
            wording = page.form_label or f"{name}: the task's body as JSON"
            kinds.append({"mechanism": name, "field": page.form_field, "wording": wording})
    return render("ask.html", data.frame(), "/ask", data.now(), title="Ask", kinds=kinds)


Make = Callable[[Caller], str]
CODES = {
    "unknown_round": 404,
    "unknown_hotkey": 404,
    "unknown_mechanism": 404,
    "unknown_contribution": 404,
    "unknown_contributor": 404,
    "not_scored": 404,
    "unknown_page": 404,
}
STALE_SECONDS = 15.0
UNPAGED = ("/v1/", "/static/")
SIGN_IN = "/sign-in"
TITLES = {401: "A token is needed", 403: "Not allowed", 404: "Not found", 429: "Too many calls", 503: "Busy"}


@dataclass(frozen=True, slots=True)
class PageResponder:
    """Dependencies of a page: its readers, its data, and the cache of rendered pages."""

    pipeline: RequestPipeline
    data: PageData
    fresh: StoreCache
    settles: Callable[[str | None], Callable[[], bool] | None]

    async def show(
        self, request: Request, make: Make, allowed: tuple[str, ...] = (), round_id: str | None = None
    ) -> Response:
        def name(caller: Caller) -> tuple[Hashable, ...]:
            caller.check("read")
            query = collect_query(request, allowed)
            own = caller.name if request.scope["path"] == SIGN_IN else None
            seen_by = caller.may("admin"), caller.may("operate"), caller.is_anyone, own
            turn = tick(STALE_SECONDS if round_id is None else LAST_SECONDS)
            return "page", request.scope["path"], tuple(sorted(query.items())), *seen_by, turn

        def work(caller: Caller, _: bytes) -> tuple[int, str]:
            return 200, self.fresh.get(name(caller), lambda: make(caller), self.settles(round_id))

        def recall(caller: Caller, crowded: bool) -> tuple[int, Any] | None:
            return self.fresh.recall(name(caller), crowded)

        return self.write(await self.pipeline.handle(request, work, recall))

    def write(self, told: ApiReply) -> Response:
        if told.status == 200:
            return page_response(told.content)
        content: Mapping[str, str] = told.content
        page = render(
            "fault.html",
            self.data.frame(),
            "",
            self.data.now(),
            title=TITLES.get(told.status, "This did not work"),
            message=write_sentence(content.get("message", "internal error")),
            remedy=write_sentence(content.get("remedy", "")),
        )
        return page_response(page, told.status, told.headers)


def write_sentence(text: str) -> str:
    """
    >>> write_sentence("no round is called 'x'"), write_sentence("")
    ("No round is called 'x'.", '')
    """
    return text and f"{text[0].upper()}{text[1:]}".rstrip(".") + "."


def tick(seconds: float) -> int:
    """Pages tell how long ago things were, so none is kept for long."""
    return int(time.monotonic() / seconds)


def add_pages(app: FastAPI, reader: ReadingApi) -> None:
    """With what the reading API keeps."""
    add_static(app)
    responder = PageResponder(replace(reader.pipeline, codes=CODES), PageData(reader), reader.fresh, reader.settles)
    add_boards(app, responder)
    add_rounds(app, responder)
    add_comparisons(app, responder)
    add_lost(app, responder)
    add_reference(app, responder)
    add_sign_in(app, responder)
    for run in responder.data.runs():
        call_or_log(run.mechanism, "add_pages", partial(run.mechanism.add_pages, app, responder), None)


def add_lost(app: FastAPI, responder: PageResponder) -> None:
    """A browser gets a page that says the address does not exist; other callers get the API's error."""

    async def tell_lost(request: Request, fault: Exception) -> Response:
        path, wanted = request.url.path, request.headers.get("accept", "")
        browsing = request.method == "GET" and "text/html" in wanted and not path.startswith(UNPAGED)
        if getattr(fault, "status_code", 500) != 404 or not browsing:
            return await refuse_unknown_route(request, fault)

        def refuse(_: Caller) -> str:
            raise WeighbeamError("unknown_page", "there is no such page", "follow a link below, or check the address")

        return await responder.show(request, refuse, tuple(request.query_params))

    app.add_exception_handler(HTTPException, tell_lost)


def declare_page(app: FastAPI, path: str) -> Callable[[Handler], Handler]:
    """A page, for GET and for HEAD."""
    return app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)


def add_sign_in(app: FastAPI, responder: PageResponder) -> None:
    @declare_page(app, SIGN_IN)
    async def sign_in(request: Request) -> Response:
        """A browser asks for a token where this refuses; at the root, so that it shows it to every page."""
        return await responder.show(request, lambda caller: show_signed_in(responder.data, caller))


def show_signed_in(data: PageData, caller: Caller) -> str:
    told = "type a token as the password; any user name will do"
    require(not caller.is_anyone, "bad_token", told, "weighbeam serve token new gives one")
    scopes = sorted(caller.scopes)
    holder = caller.name.removeprefix(TOKEN)
    return render("signed_in.html", data.frame(), SIGN_IN, data.now(), title="Signed in", holder=holder, scopes=scopes)


def add_reference(app: FastAPI, responder: PageResponder) -> None:
    @declare_page(app, REFERENCE_PATH)
    async def reference(request: Request) -> Response:
        return await responder.show(request, lambda _: show_reference(responder.data, app.openapi()))


def add_boards(app: FastAPI, responder: PageResponder) -> None:
    data, page = responder.data, partial(declare_page, app)

    @page("/")
    async def overview(request: Request) -> Response:
        home = data.find_home()
        if home is not None:
            return RedirectResponse(home, 307, {"Cache-Control": "no-cache"})
        return await responder.show(request, lambda _: show_overview(data))

    @page("/mechanisms/{mechanism}")
    async def leaderboard(request: Request, mechanism: str) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: show_leaderboard(data, mechanism, query), BOARD_NAMES)

    @page("/miners/{hotkey}")
    async def miner(request: Request, hotkey: str) -> Response:
        query = dict(request.query_params)
        chosen = query.get("mechanism") or None
        return await responder.show(request, lambda _: show_miner(data, hotkey, chosen, query), MINER_NAMES)

    @page("/weights")
    async def weights(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: show_weights(data, query), WEIGHT_NAMES)

    @page("/attacks")
    async def attacks(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: show_attacks(data, query), ATTACK_NAMES)

    @page("/ask")
    async def ask(request: Request) -> Response:
        return await responder.show(request, lambda _: show_ask(data))


def add_comparisons(app: FastAPI, responder: PageResponder) -> None:
    data, page = responder.data, partial(app.get, include_in_schema=False)

    @page("/compare/miners")
    async def miners(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: compare.show_miners(data, query), compare.MINER_NAMES)

    @page("/compare/rounds")
    async def rounds(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(
            request,
            lambda caller: compare.show_rounds_beside(data, query, not caller.may("admin")),
            compare.ROUND_NAMES,
        )

    @page("/compare/validators")
    async def validators(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: compare.show_validators(data, query), compare.VALIDATOR_NAMES)


def add_rounds(app: FastAPI, responder: PageResponder) -> None:
    data, page = responder.data, partial(declare_page, app)

    @page("/rounds")
    async def rounds(request: Request) -> Response:
        query = dict(request.query_params)
        return await responder.show(request, lambda _: show_rounds(data, query), ROUND_NAMES)

    @page("/rounds/{round_id}")
    async def one_round(request: Request, round_id: str) -> Response:
        query = dict(request.query_params)
        return await responder.show(
            request,
            lambda caller: show_round(data, round_id, not caller.may("admin"), query),
            ANSWER_NAMES,
            round_id,
        )

    @page("/rounds/{round_id}/{hotkey}")
    async def answer(request: Request, round_id: str, hotkey: str) -> Response:
        return await responder.show(
            request, lambda caller: show_answer(data, round_id, hotkey, not caller.may("admin")), (), round_id
        )


def parse_number(text: str | None) -> int | None:
    """
    >>> parse_number("12"), parse_number(None)
    (12, None)
    """
    sound = text is None or (text.isascii() and text.isdigit() and len(text) <= 15)
    require(sound, "bad_query", "the address asks for something that is not here", "go by the links of a page")
    return None if text is None else int(text)
