"""The novelty desk: what came in, how near it was to what was there, and what it was paid."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.charts.curve import chart_curve
from weighbeam.charts.dashboard import chart_payouts
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.desk.accounts import count_all, select_history
from weighbeam.mechanisms.novelty.desk.curve import draw_curve
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.ui.page import PAGE
from weighbeam.network.keys import is_address
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.routes import PageResponder, parse_number

PATH = PAGE.home
TEMPLATES = __package__ or ""
MAX_LINES, CHARTED = 50, 500
HOUR, HOURS = 3600.0, 24
MILLI = 1000
UNNAMED = "a user"
OUTCOMES = {"paid": "paid", "released": "paid", "imported": "paid", "held": "held"}


def add_page(app: FastAPI, pages: PageResponder) -> None:
    """The page /novelty, which the menu leads to."""

    @app.get(PATH, include_in_schema=False)
    async def novelty(request: Request) -> Response:
        before = request.query_params.get("before")
        return await pages.show(
            request,
            lambda caller: show_novelty(pages.data, parse_number(before), not caller.is_anyone),
            ("before",),
        )


def show_novelty(data: PageData, before: int | None, named: bool) -> str:
    """Without `named`, contributors other than hotkeys stay unnamed, because they are users of an app."""
    params = data.find("novelty").params
    assert isinstance(params, NoveltyParams)
    lines = select_history(data.store, before=before, limit=MAX_LINES)
    charted = select_history(data.store, limit=CHARTED)
    return render(
        "novelty.html",
        data.frame(),
        PATH,
        data.now(),
        TEMPLATES,
        title="Novelty",
        all=count_all(data.store),
        base_units=params.base_units,
        **_draw(data, params),
        payouts=chart_payouts(list_payouts(charted, params.base_units, data.now())),
        counted=len(charted),
        lines=[_format_line(line, named) for line in lines],
        page={
            "cursor": before,
            "first": PATH,
            "next": f"{PATH}?before={lines[-1]['id']}" if len(lines) == MAX_LINES else None,
        },
    )


def list_payouts(lines: Sequence[dict[str, Any]], base_units: int, now: float) -> list[dict[str, Any]]:
    """Every hour of the last day has its place, also one in which nothing came."""
    hours = [(now // HOUR - back) * HOUR for back in range(HOURS)]
    empty = [{"at": at * MILLI, "status": "paid", "tokens": 0, "count": 0} for at in hours]
    return empty + [
        {
            "at": line["at"] * MILLI,
            "status": OUTCOMES.get(line["status"], "nothing paid") if line["units"] else "nothing paid",
            "tokens": line["units"] / base_units,
            "count": 1,
        }
        for line in lines
    ]


def _format_line(line: dict[str, Any], named: bool) -> dict[str, Any]:
    """Without its text: that is for operators."""
    told = {name: line[name] for name in ("id", "at", "nearest", "units", "withdrawn")}
    status = "not_new" if line["status"] == "paid" and not line["units"] else line["status"]
    similarity = None if line["micro"] is None else line["micro"] / MILLION
    is_miner = is_address(line["contributor"])
    contributor = line["contributor"] if named or is_miner else UNNAMED
    return {**told, "status": status, "contributor": contributor, "similarity": similarity, "is_miner": is_miner}


def _draw(data: PageData, params: NoveltyParams) -> dict[str, Any]:
    """The chart, whose title is the page's own, and what it says of the corpus."""
    try:
        curve = draw_curve(data.store, params, "exponential")
        spec = chart_curve(curve)
    except WeighbeamError:
        return {"curve": None}
    for name in ("title", "padding", "background", "config"):
        spec.pop(name, None)
    return {
        "curve": spec,
        "curve_about": ". ".join(("Tokens over similarity to the nearest of all before", *curve.subtitle)),
    }
