"""One mechanism: who stands where, how sure that is, and what it pays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from weighbeam.charts.dashboard import chart_standings
from weighbeam.charts.picture import ChartPicture
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.engine.views.leaderboard import LeaderboardLine
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.round_view import select_round_view
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanism.page import BoardLine, StandingsBoard
from weighbeam.mechanism.params import list_overridden
from weighbeam.service.pages.formats import choose_decimals, format_decimals
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render
from weighbeam.service.tables.boards import STANDINGS, StandingRow, list_standings
from weighbeam.service.tables.view import list_names, view_table

MAX_ROUNDS = 10
MAX_CHARTED = 25
MAX_SHOWN = 300
ERRORS = 2.0


NAMES = list_names(STANDINGS)


def show_leaderboard(data: PageData, name: str, query: Mapping[str, str] | None = None) -> str:
    run = data.find(name)
    source, scope = data.tables, {"mechanism": name}
    every = list_standings(source, name)
    table = view_table(STANDINGS, source, f"/mechanisms/{quote(name)}", query or {}, scope, rows=MAX_SHOWN)
    rows, book = [row.line for row in every], data.shown.load_names()
    rounds, valid = sum(row.rounds for row in rows), sum(row.valid for row in rows)
    shares = [row.share for row in rows if row.share]
    charted = [row for row in every if row.standing is not None][:MAX_CHARTED]
    better = run.mechanism.better
    return render(
        "leaderboard.html",
        data.frame(),
        f"/mechanisms/{name}",
        data.now(),
        title=name,
        mechanism=name,
        about=run.mechanism.page.lead or f"The standings of {name}.",
        better=better,
        table=table,
        rows=format_rows(table.rows, every, better),
        tokens=bool(run.mechanism.page.token_units),
        ranked=sum(row.standing is not None for row in rows),
        valid_share=valid / rounds if rounds else None,
        paid=len(shares) if shares else "–",
        largest=max(shares, default=None),
        shown=len(charted),
        chart=chart_standings(list_intervals(charted, name, book), better == "lower") if len(charted) > 1 else None,
        pictures=list_pictures(data, run, rows),
        rounds=list_rounds(data.store, mechanism=name, limit=MAX_ROUNDS).items,
        params=sorted(run.params.model_dump(mode="json").items()),
        params_hash=data.hash_params(run),
        overridden=list_overridden(run.params),
    )


def turn_trend(trend: Sequence[float], better: str) -> list[float]:
    """So that a line that rises is a miner that gets better.

    >>> turn_trend([1.0, 3.0], "lower")
    [-1.0, -3.0]
    """
    return [-value for value in trend] if better == "lower" else list(trend)


def format_rows(rows: Sequence[StandingRow], every: Sequence[StandingRow], better: str) -> list[dict[str, Any]]:
    """Standing and error are written alike in all rows, shown or not."""
    decimals = choose_decimals([row.standing for row in every])
    return [
        {
            "row": row,
            "line": row.line,
            "standing": format_decimals(row.standing, decimals),
            "spread": format_decimals(row.spread, decimals),
            "trend": turn_trend(row.line.trend, better),
        }
        for row in rows
    ]


def list_pictures(data: PageData, run: PageMechanism, rows: Sequence[LeaderboardLine]) -> Sequence[ChartPicture]:
    """The mechanism's own pictures of its standings; a page does without those that its package cannot draw."""
    draw = run.mechanism.page.board_pictures
    if draw is None or not rows:
        return ()
    board = find_board(data, run.mechanism.name, rows)
    return call_or_log(run.mechanism, "board_pictures", lambda: tuple(draw(run.params, board)), ())


def find_board(data: PageData, name: str, rows: Sequence[LeaderboardLine]) -> StandingsBoard:
    """The leaderboard with whom the newest scored round asked. Where no chain was read, everybody counts as there."""
    read = any(row.uid is not None for row in rows)
    lines = [BoardLine(row.hotkey, row.standing, row.uid is not None or not read) for row in rows]
    book, newest = data.shown.load_names(), list_rounds(data.store, mechanism=name, state="scored", limit=1).items
    names = {row.hotkey: known for row in rows if (known := book.name(row.hotkey, name)) is not None}
    if not newest:
        return StandingsBoard(lines, names=names)
    view = select_round_view(data.store, newest[0].id, withhold=True)
    return StandingsBoard(lines, view.id, (*view.members, *view.extra), view.summary or {}, names)


def list_intervals(rows: Sequence[StandingRow], mechanism: str, book: NameBook) -> list[dict[str, Any]]:
    """Standings and two standard errors to both sides; none where nothing can be said of it."""
    found = []
    for row in rows:
        assert row.standing is not None
        off = ERRORS * (row.spread or 0.0)
        line = row.line
        name = replace(book.find(line.hotkey, mechanism), uid=line.uid).label
        span = {"low": row.standing - off, "high": row.standing + off}
        found.append({"miner": name, "place": line.place, "standing": row.standing, **span})
    return found
