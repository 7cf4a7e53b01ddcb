"""One miner: how it stands, why answers failed, and what would help it most."""

from typing import Any
from urllib.parse import quote

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.insight.miner import MinerView, Point
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.pictures.charts import chart_course
from weighbeam.service.pages.formats import write_number, write_tokens
from weighbeam.service.pages.render import render
from weighbeam.service.pages.shelf import Run, Shelf

MILLI = 1000
MOST = 50


def show_miner(shelf: Shelf, hotkey: str, mechanism: str | None) -> str:
    """Under the mechanism named, else under the first that knows the miner."""
    run, view = _find(shelf, hotkey, mechanism)
    name = run.mechanism.name
    scored = [point for point in view.points if point.status != "unscored"]
    valid = sum(point.status == "valid" for point in scored)
    return render(
        "miner.html",
        shelf.frame(),
        f"/mechanisms/{name}",
        shelf.now(),
        title=f"Miner {hotkey}",
        hotkey=hotkey,
        mechanism=name,
        tabs=[(one, f"/miners/{quote(hotkey, safe='')}?mechanism={quote(one)}") for one in shelf.names],
        view=view,
        valid=valid / len(scored) if scored else None,
        judged=len(scored),
        points=[_write_point(point, run) for point in view.points[:MOST]],
        chart=chart_course([_chart_point(point) for point in view.points], "score", "standing")
        if view.points
        else None,
    )


def _find(shelf: Shelf, hotkey: str, mechanism: str | None) -> tuple[Run, MinerView]:
    for run in shelf.runs() if mechanism is None else [shelf.find(mechanism)]:
        try:
            return run, shelf.reader.read_miner(run.mechanism, hotkey)
        except WeighbeamError as refusal:
            if refusal.code != "unknown_hotkey":
                raise
    raise WeighbeamError("unknown_hotkey", "nothing is known of this miner here", "see a leaderboard")


def _write_point(point: Point, run: Run) -> dict[str, Any]:
    params = run.params
    tokens = isinstance(params, NoveltyParams)
    shown = write_tokens(point.value, params.base_units) if isinstance(params, NoveltyParams) else None
    return {
        "round": point.round,
        "at": point.at,
        "status": point.status,
        "shown": shown if tokens else write_number(point.value),
        "standing": point.standing,
        "reasons": point.reasons,
    }


def _chart_point(point: Point) -> dict[str, Any]:
    return {
        "at": point.at * MILLI,
        "value": point.value,
        "standing": point.standing,
        "status": point.status,
        "round": point.round,
    }
