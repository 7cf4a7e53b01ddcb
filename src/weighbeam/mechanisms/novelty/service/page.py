"""The pages of the novelty desk: what came in, who contributed it, what it was paid, and what waits for a decision.

Users of an app are named, and texts are shown, to callers with a token: names to all who may read, texts to
operators.
Pages only read. A decision goes through the API with a token that the page never keeps.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI, Request, Response

from weighbeam.charts.curve import chart_curve
from weighbeam.charts.dashboard import chart_payouts
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.desk.accounts import (
    count_all,
    select_balances,
    select_contributor_balance,
    select_history,
    select_receipts,
)
from weighbeam.mechanisms.novelty.desk.curve import draw_curve
from weighbeam.mechanisms.novelty.desk.submission import check_contributor
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.shapes import STATUSES
from weighbeam.mechanisms.novelty.ui.page import CONTRIBUTORS, HELD, PAGE
from weighbeam.network.keys import is_address
from weighbeam.service.http.callers import Caller
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.routes import PageResponder, declare_page, parse_number

PATH = PAGE.home
CONTRIBUTIONS = f"{PATH}/contributions"
TEMPLATES = __package__ or ""
MAX_LINES, CHARTED, MAX_HELD, MAX_BALANCES = 50, 500, 100, 1000
MAX_TEASER = 160
HOUR, HOURS = 3600.0, 24
MILLI = 1000
UNNAMED = "a user"
OUTCOMES = {"paid": "paid", "released": "paid", "imported": "paid", "held": "held"}
READER, OPERATOR = "read", "operate"


def add_page(app: FastAPI, pages: PageResponder) -> None:
    """The pages below /novelty, which the menu leads to."""
    data = pages.data

    @declare_page(app, PATH)
    async def novelty(request: Request) -> Response:
        query = request.query_params
        before, status = query.get("before"), query.get("status") or None
        return await pages.show(
            request, lambda caller: show_novelty(data, parse_number(before), caller, status), ("before", "status")
        )

    @declare_page(app, HELD)
    async def held(request: Request) -> Response:
        return await pages.show(request, lambda caller: show_held(data, caller))

    @declare_page(app, CONTRIBUTORS)
    async def contributors(request: Request) -> Response:
        return await pages.show(request, lambda caller: show_contributors(data, caller))

    @declare_page(app, f"{CONTRIBUTORS}/{{contributor:path}}")
    async def contributor(request: Request, contributor: str) -> Response:
        return await pages.show(request, lambda caller: show_contributor(data, contributor, caller))

    @declare_page(app, f"{CONTRIBUTIONS}/{{number}}")
    async def contribution(request: Request, number: str) -> Response:
        return await pages.show(request, lambda caller: show_contribution(data, number, caller))


def show_novelty(data: PageData, before: int | None, caller: Caller, status: str | None = None) -> str:
    """The desk as a whole, and its newest contributions."""
    require(status is None or status in STATUSES, "bad_query", "there is no such outcome", "go by the links of a page")
    params = find_params(data)
    lines = select_history(data.store, status=status, before=before, limit=MAX_LINES)
    charted = select_history(data.store, limit=CHARTED)
    kept = {"status": status} if status else {}
    return _render(
        data,
        "novelty.html",
        PATH,
        caller,
        title="Novelty",
        all=count_all(data.store),
        **_draw(data, params),
        payouts=chart_payouts(list_payouts(charted, params.base_units, data.now())),
        counted=len(charted),
        chosen=status or "all",
        tabs=[("all", PATH), *((one, f"{PATH}?status={one}") for one in STATUSES)],
        lines=[format_line(line, caller) for line in lines],
        page={
            "cursor": before,
            "first": f"{PATH}?{urlencode(kept)}" if kept else PATH,
            "next": f"{PATH}?{urlencode({**kept, 'before': lines[-1]['id']})}" if len(lines) == MAX_LINES else None,
        },
    )


def show_held(data: PageData, caller: Caller) -> str:
    """Implausible contributions that wait; a token with the scope operate may decide."""
    lines = select_history(data.store, status="held", limit=MAX_HELD)
    shown = [format_line(line, caller) for line in lines]
    return _render(
        data, "held.html", HELD, caller, title="Held contributions", lines=shown, more=len(lines) == MAX_HELD
    )


def show_contributors(data: PageData, caller: Caller) -> str:
    """Earnings of contributors, largest first."""
    found = select_balances(data.store, MAX_BALANCES)
    rows = [
        {**format_contributor(row["contributor"], caller), "units": row["units"], "held": row["held"]} for row in found
    ]
    rows.sort(key=lambda row: -row["units"])
    more = len(found) == MAX_BALANCES
    return _render(data, "contributors.html", CONTRIBUTORS, caller, title="Contributors", rows=rows, more=more)


def show_contributor(data: PageData, name: str, caller: Caller) -> str:
    """One contributor: what it owns and what it handed in. Users of an app are shown to tokens alone."""
    contributor = check_contributor(name)
    if not is_address(contributor):
        caller.check(READER)
        _require_token(caller)
    lines = select_history(data.store, contributor, limit=MAX_HELD)
    return _render(
        data,
        "contributor.html",
        CONTRIBUTORS,
        caller,
        title=f"Contributor {contributor}",
        who_is=format_contributor(contributor, caller),
        balance=select_contributor_balance(data.store, contributor),
        lines=[format_line(line, caller) for line in lines],
        more=len(lines) == MAX_HELD,
    )


def show_contribution(data: PageData, number: str, caller: Caller) -> str:
    """One contribution: its text for operators, what it was compared with, what it was paid."""
    sought = parse_number(number)
    assert sought is not None
    found = select_history(data.store, before=sought + 1, limit=1)
    if not found or found[0]["id"] != sought:
        raise WeighbeamError("unknown_contribution", f"no contribution has the number {sought}", "see the newest")
    receipts = select_receipts(data.store, sought)
    return _render(
        data,
        "contribution.html",
        PATH,
        caller,
        title=f"Contribution {sought}",
        one=format_line(found[0], caller, len(found[0]["text"] or "")),
        receipt=None if caller.is_anyone else receipts["receipt"],
        settlement=None if caller.is_anyone else receipts["settlement"],
    )


def find_params(data: PageData) -> NoveltyParams:
    params = data.find("novelty").params
    assert isinstance(params, NoveltyParams)
    return params


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


def format_line(line: Mapping[str, Any], caller: Caller, length: int = MAX_TEASER) -> dict[str, Any]:
    """A contribution; its text, or how it begins, for operators alone."""
    told = {name: line[name] for name in ("id", "at", "nearest", "units", "withdrawn")}
    status = "not_new" if line["status"] == "paid" and not line["units"] else line["status"]
    text = line["text"] if caller.may(OPERATOR) else None
    return {
        **told,
        **format_contributor(line["contributor"], caller),
        "status": status,
        "is_held": line["status"] == "held",
        "similarity": None if line["nearest"] is None else (line["similarity"] or 0) / MILLION,
        "text": None if text is None else text[:length],
        "cut": text is not None and len(text) > length,
        "address": f"{CONTRIBUTIONS}/{line['id']}",
    }


def format_contributor(contributor: str, caller: Caller) -> dict[str, Any]:
    """Contributors other than hotkeys stay unnamed without a token, because they are users of an app."""
    is_miner = is_address(contributor)
    named = is_miner or not caller.is_anyone
    return {
        "contributor": contributor if named else UNNAMED,
        "is_miner": is_miner,
        "link": f"{CONTRIBUTORS}/{quote(contributor, safe='')}" if named else None,
    }


def _require_token(caller: Caller) -> None:
    require(not caller.is_anyone, "bad_token", "users of an app are shown to holders of a token", "sign in with one")


def _render(data: PageData, template: str, here: str, caller: Caller, **content: Any) -> str:
    return render(
        template,
        data.frame(),
        here if data.is_app() else PATH,
        data.now(),
        TEMPLATES,
        base_units=find_params(data).base_units,
        is_app=data.is_app(),
        named=not caller.is_anyone,
        operates=caller.may(OPERATOR),
        **content,
    )


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
