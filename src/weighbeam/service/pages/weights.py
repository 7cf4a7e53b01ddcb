"""Weights on chain, their concentration, and the epoch's result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from weighbeam.charts.dashboard import chart_concentration, chart_shares
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.weights import WeightsLine, list_weigh_ins, list_weights, recall_last_set
from weighbeam.engine.weights.metagraphs import find_own, select_metagraph
from weighbeam.service.pages.formats import format_time
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.tables.boards import MINERS, VALIDATORS
from weighbeam.service.tables.model import find_span
from weighbeam.service.tables.view import list_names, view_table
from weighbeam.service.tables.weights import SUBMISSIONS

MAX_LINES, MAX_SKIPS, LARGEST = 30, 10, 9
OTHERS = "others"


NAMES = ("mechanism", *list_names(SUBMISSIONS, VALIDATORS, MINERS))


def show_weights(data: PageData, query: Mapping[str, str] | None = None) -> str:
    asked = dict(query or {})
    name = asked.get("mechanism") or data.names[0]
    data.find(name)
    source, scope = data.tables, {"mechanism": name}
    since, until = find_span(asked, data.now())
    lines = list_weights(data.store, name, MAX_LINES, None, since, until)
    tries = list_weigh_ins(data.store, name, MAX_LINES)
    graph = select_metagraph(data.store, name)
    last = recall_last_set(data.store, name)
    set_before = [line for line in reversed(lines) if line.state in ("included", "confirmed")]
    return render(
        "weights.html",
        data.frame(),
        "/weights",
        data.now(),
        title=f"Weights of {name}",
        mechanism=name,
        tabs=[(one, f"/weights?mechanism={quote(one)}") for one in data.names],
        tried=lines[0] if lines else None,
        latest=last,
        paid=sum(one.value > 0 for one in last.shares) if last else None,
        ledger=view_table(SUBMISSIONS, source, "/weights", asked, scope, rows=MAX_LINES),
        validators=view_table(VALIDATORS, source, "/weights", asked, scope, True, hidden=("miner",)),
        miners=view_table(MINERS, source, "/weights", asked, scope, True),
        skips=[one for one in tries if one.kind != "submitted"][:MAX_SKIPS],
        shares=chart_shares(list_shares(set_before, data.shown.load_names(), name)) if set_before else None,
        concentration=chart_concentration(list_measures(set_before)) if set_before else None,
        graph=graph,
        own=find_own(graph),
    )


def list_shares(lines: Sequence[WeightsLine], book: NameBook, mechanism: str) -> list[dict[str, Any]]:
    """The largest miners of all vectors one by one, everybody else as one."""
    total: Counter[str] = Counter()
    for line in lines:
        for one in line.shares:
            total[one.hotkey] += one.value
    order = {hotkey: place for place, (hotkey, _) in enumerate(total.most_common(LARGEST))}
    rows: list[dict[str, Any]] = []
    for line in lines:
        parts: dict[str, float] = {}
        for one in line.shares:
            name = one.hotkey if one.hotkey in order else OTHERS
            parts[name] = parts.get(name, 0.0) + one.share
        rows += [
            {
                "weights": line.id,
                "when": format_time(line.at),
                "miner": name if name == OTHERS else book.find(name, mechanism).label,
                "share": share,
                "order": order.get(name, LARGEST),
            }
            for name, share in parts.items()
        ]
    return rows


def list_measures(lines: Sequence[WeightsLine]) -> list[dict[str, Any]]:
    return [
        {"weights": line.id, "when": format_time(line.at), "measure": measure, "value": value}
        for line in lines
        for measure, value in (("first miner", line.top1), ("first three", line.top3), ("Gini", line.gini))
    ]
