"""One mechanism: who stands where, how sure that is, and what it pays."""

from collections.abc import Sequence
from typing import Any

from weighbeam.charts.dashboard import chart_standings
from weighbeam.charts.picture import ChartPicture
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.engine.views.leaderboard import LeaderboardLine, select_leaderboard
from weighbeam.engine.views.round_view import select_round_view
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanism.page import BoardLine, StandingsBoard
from weighbeam.mechanism.params import list_overridden
from weighbeam.service.pages.formats import shorten
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render

MAX_ROUNDS = 10
MAX_CHARTED = 25
ERRORS = 2.0


def show_leaderboard(data: PageData, name: str) -> str:
    run = data.find(name)
    rows = select_leaderboard(data.store, run.mechanism, data.averaging)
    rounds, valid = sum(row.rounds for row in rows), sum(row.valid for row in rows)
    shares = [row.share for row in rows if row.share]
    charted = [row for row in rows if row.standing is not None][:MAX_CHARTED]
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
        rows=rows,
        ranked=sum(row.standing is not None for row in rows),
        valid_share=valid / rounds if rounds else None,
        paid=len(shares) if shares else "–",
        largest=max(shares, default=None),
        shown=len(charted),
        chart=chart_standings(list_intervals(charted), better == "lower") if len(charted) > 1 else None,
        pictures=list_pictures(data, run, rows),
        rounds=list_rounds(data.store, mechanism=name, limit=MAX_ROUNDS).items,
        params=sorted(run.params.model_dump(mode="json").items()),
        params_hash=data.hash_params(run),
        overridden=list_overridden(run.params),
    )


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
    newest = list_rounds(data.store, mechanism=name, state="scored", limit=1).items
    if not newest:
        return StandingsBoard(lines)
    view = select_round_view(data.store, newest[0].id, withhold=True)
    return StandingsBoard(lines, view.id, (*view.members, *view.extra), view.summary or {})


def list_intervals(rows: Sequence[LeaderboardLine]) -> list[dict[str, Any]]:
    """Standings and two standard errors to both sides; none where nothing can be said of it."""
    found = []
    for row in rows:
        assert row.standing is not None
        off = ERRORS * (row.spread or 0.0)
        name = f"{shorten(row.hotkey)}" if row.uid is None else f"{row.uid} · {shorten(row.hotkey)}"
        span = {"low": row.standing - off, "high": row.standing + off}
        found.append({"miner": name, "place": row.place, "standing": row.standing, **span})
    return found
