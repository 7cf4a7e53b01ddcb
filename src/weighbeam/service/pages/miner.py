"""One miner: how it stands, why answers failed, and what would help it most."""

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from weighbeam.charts.dashboard import chart_course
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.miner import MinerPoint, MinerView
from weighbeam.engine.views.names import NameBook
from weighbeam.service.pages.formats import format_column
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render
from weighbeam.service.tables.model import find_span
from weighbeam.service.tables.rounds import SCORES, ScoreRow
from weighbeam.service.tables.view import list_names, view_table

MILLI = 1000
MAX_POINTS = 50


NAMES = ("mechanism", *list_names(SCORES))


def show_miner(data: PageData, given: str, mechanism: str | None = None, query: Mapping[str, str] | None = None) -> str:
    """By name, uid or hotkey; under the mechanism named, else under the first that knows the miner."""
    book = data.shown.load_names()
    hotkey = book.resolve(given, mechanism)
    run, view = _find(data, hotkey, mechanism)
    name, asked = run.mechanism.name, dict(query or {})
    address, scope = f"/miners/{quote(hotkey, safe='')}", {"mechanism": name, "hotkey": hotkey}
    table = view_table(SCORES, data.tables, address, {**asked, "mechanism": name}, scope, rows=MAX_POINTS)
    since, until = find_span(asked, data.now())
    charted = [one for one in view.points if (since or 0) <= one.at <= (until or math.inf)]
    scored = [point for point in view.points if point.status != "unscored"]
    valid = sum(point.status == "valid" for point in scored)
    return render(
        "miner.html",
        data.frame(),
        f"/mechanisms/{name}",
        data.now(),
        title=f"Miner {book.name(hotkey, name) or hotkey}",
        hotkey=hotkey,
        acts=_list_acts(book, hotkey, data.names),
        mechanism=name,
        tabs=[(one, f"/miners/{quote(hotkey, safe='')}?mechanism={quote(one)}") for one in data.names],
        view=view,
        valid=valid / len(scored) if scored else None,
        judged=len(scored),
        table=table,
        points=_format_points(table.rows, view),
        chart=chart_course([_chart_point(point) for point in charted], "score", "standing") if charted else None,
    )


def _list_acts(book: NameBook, hotkey: str, mechanisms: Sequence[str]) -> list[tuple[str, str, str]]:
    """What a miner of a demo does: mechanism, its name there, and how it answers."""
    found = [(one, book.find(hotkey, one).act) for one in mechanisms]
    return [(one, act.name, act.about) for one, act in found if act is not None]


def _find(data: PageData, hotkey: str, mechanism: str | None) -> tuple[PageMechanism, MinerView]:
    for run in data.runs() if mechanism is None else [data.find(mechanism)]:
        try:
            return run, data.reader.read_miner(run.mechanism, hotkey)
        except WeighbeamError as refusal:
            if refusal.code != "unknown_hotkey":
                raise
    raise WeighbeamError("unknown_hotkey", "nothing is known of this miner here", "see a leaderboard")


def _format_points(rows: Sequence[ScoreRow], view: MinerView) -> list[dict[str, Any]]:
    """Scores with the standing after them, where it is among the last that are kept."""
    after = {point.round: point.standing for point in view.points}
    scores = format_column([row.score for row in rows])
    standings = format_column([after.get(row.line.round) for row in rows])
    return [
        {"line": row.line, "score": score, "standing": standing}
        for row, score, standing in zip(rows, scores, standings, strict=True)
    ]


def _chart_point(point: MinerPoint) -> dict[str, Any]:
    return {
        "at": point.at * MILLI,
        "value": point.value,
        "standing": point.standing,
        "status": point.status,
        "round": point.round,
    }
