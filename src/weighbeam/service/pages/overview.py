"""The first page: is everything running, and what needs a person."""

from collections.abc import Sequence
from typing import Any

from weighbeam.charts.dashboard import chart_hours
from weighbeam.engine.alerts.alerts import find_remedy
from weighbeam.engine.alerts.notices import Notice
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.views.overview import HOUR_SECONDS, HourCount, MechanismView, count_hours, select_overview
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.engine.weights.metagraphs import select_metagraph
from weighbeam.service.http.redaction import redact_alert, redact_overview
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render

MAX_LINES = 8
LEVELS = ("critical", "warning")
HOURS = 24
MILLI = 1000


def show_overview(data: PageData) -> str:
    now = data.now()
    seen = redact_overview(select_overview(data.store, data.names, now))
    graphs = [graph for name in data.names if (graph := select_metagraph(data.store, name)) is not None]
    return render(
        "overview.html",
        data.frame(),
        "/",
        now,
        title="Overview",
        block=max((graph.block for graph in graphs), default=None),
        lines=[_format_line(view) for view in seen.mechanisms],
        levels=[(level, count) for level in LEVELS if (count := sum(one.level == level for one in seen.notices))],
        notices=[_format_notice(notice) for notice in seen.notices if notice.level != "info"],
        alerts=[redact_alert(line) for line in list_alerts(data.store, limit=MAX_LINES).items],
        rounds=list_rounds(data.store, limit=MAX_LINES).items,
        hours=chart_hours(list_hours(count_hours(data.store, now, HOURS), data.names, now)),
    )


def list_hours(lines: Sequence[HourCount], mechanisms: Sequence[str], now: float) -> list[dict[str, Any]]:
    """Every hour has its place, also one without a round."""
    first = mechanisms[0] if mechanisms else ""
    hours = [(now // HOUR_SECONDS - back) * HOUR_SECONDS for back in range(HOURS)]
    empty = [{"at": at * MILLI, "mechanism": first, "rounds": 0} for at in hours]
    return [*empty, *({"at": line.at * MILLI, "mechanism": line.mechanism, "rounds": line.rounds} for line in lines)]


def _format_line(view: MechanismView) -> dict[str, Any]:
    last, round_ = view.last_weigh_in, view.last_round
    return {
        "mechanism": view.name,
        "mode": view.mode,
        "blocks": view.blocks_now,
        "weighed": None if last is None else last.kind if last.kind == "submitted" else last.reason or last.kind,
        "weighed_at": None if last is None else last.at,
        "due": view.next_weigh_in,
        "per_hour": view.rounds_last_hour,
        "last_round": None if round_ is None else round_.id,
        "last_round_at": None if round_ is None else round_.at,
        "waiting": view.waiting,
    }


def _format_notice(notice: Notice) -> dict[str, Any]:
    return {
        "level": notice.level,
        "code": notice.code,
        "mechanism": notice.mechanism,
        "at": notice.raised,
        "text": notice.text,
        "count": notice.count,
        "remedy": find_remedy(notice.code),
    }
