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
from weighbeam.service.tables.shown import find_units
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
    units = find_units(name, run.params)
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
        points=_format_points(table.rows, view, units),
        standing=format_column([_divide(view.standing, units), _divide(view.spread, units)]),
        chart=_chart(charted, run) if charted else None,
        lower=run.mechanism.better == "lower",
    )


def _list_acts(book: NameBook, hotkey: str, mechanisms: Sequence[str]) -> list[tuple[str, str, str]]:
    """Role of a demo's miner: mechanism, its name there, and how it answers."""
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


def _format_points(rows: Sequence[ScoreRow], view: MinerView, units: int) -> list[dict[str, Any]]:
    """Scores with the standing after them, where it is among the last that are kept."""
    after = {point.round: point.standing for point in view.points}
    scores = format_column([row.score for row in rows])
    kept = [after.get(row.line.round) for row in rows]
    standings = format_column([_divide(one, units) for one in kept])
    return [
        {"line": row.line, "score": score, "standing": standing}
        for row, score, standing in zip(rows, scores, standings, strict=True)
    ]


def _divide(value: float | None, units: int) -> float | None:
    return None if value is None else value / units


def _chart(points: Sequence[MinerPoint], run: PageMechanism) -> dict[str, Any]:
    """In tokens where scores and standings are tokens."""
    units = find_units(run.mechanism.name, run.params)
    in_tokens = " (tokens)" if units > 1 else ""
    rows = [_chart_point(point, units) for point in points]
    return chart_course(rows, f"score{in_tokens}", f"standing{in_tokens}", run.mechanism.better == "lower")


def _chart_point(point: MinerPoint, units: int) -> dict[str, Any]:
    return {
        "at": point.at * MILLI,
        "value": _divide(point.value, units),
        "standing": _divide(point.standing, units),
        "status": point.status,
        "round": point.round,
    }
