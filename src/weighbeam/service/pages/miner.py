"""One miner: how it stands, why answers failed, and what would help it most."""

from typing import Any
from urllib.parse import quote

from weighbeam.charts.dashboard import chart_course
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.miner import MinerPoint, MinerView
from weighbeam.service.pages.formats import format_number, format_tokens
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render

MILLI = 1000
MAX_POINTS = 50


def show_miner(data: PageData, hotkey: str, mechanism: str | None) -> str:
    """Under the mechanism named, else under the first that knows the miner."""
    run, view = _find(data, hotkey, mechanism)
    name = run.mechanism.name
    scored = [point for point in view.points if point.status != "unscored"]
    valid = sum(point.status == "valid" for point in scored)
    return render(
        "miner.html",
        data.frame(),
        f"/mechanisms/{name}",
        data.now(),
        title=f"Miner {hotkey}",
        hotkey=hotkey,
        mechanism=name,
        tabs=[(one, f"/miners/{quote(hotkey, safe='')}?mechanism={quote(one)}") for one in data.names],
        view=view,
        valid=valid / len(scored) if scored else None,
        judged=len(scored),
        points=[_format_point(point, run) for point in view.points[:MAX_POINTS]],
        chart=chart_course([_chart_point(point) for point in view.points], "score", "standing")
        if view.points
        else None,
    )


def _find(data: PageData, hotkey: str, mechanism: str | None) -> tuple[PageMechanism, MinerView]:
    for run in data.runs() if mechanism is None else [data.find(mechanism)]:
        try:
            return run, data.reader.read_miner(run.mechanism, hotkey)
        except WeighbeamError as refusal:
            if refusal.code != "unknown_hotkey":
                raise
    raise WeighbeamError("unknown_hotkey", "nothing is known of this miner here", "see a leaderboard")


def _format_point(point: MinerPoint, run: PageMechanism) -> dict[str, Any]:
    base = getattr(run.params, run.mechanism.page.token_units or "_", None)
    return {
        "round": point.round,
        "at": point.at,
        "status": point.status,
        "shown": format_tokens(point.value, base) if base else format_number(point.value),
        "standing": point.standing,
        "reasons": point.reasons,
    }


def _chart_point(point: MinerPoint) -> dict[str, Any]:
    return {
        "at": point.at * MILLI,
        "value": point.value,
        "standing": point.standing,
        "status": point.status,
        "round": point.round,
    }
