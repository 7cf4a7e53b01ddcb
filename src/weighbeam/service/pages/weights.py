"""What was set on chain, how concentrated it is, and what the epoch made of it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from weighbeam.charts.dashboard import chart_concentration, chart_shares
from weighbeam.engine.views.weights import WeightsLine, list_weigh_ins, list_weights, recall_last_set
from weighbeam.engine.weights.metagraphs import GraphView, select_metagraph
from weighbeam.service.api.reader import to_jsonable
from weighbeam.service.pages.formats import format_time, shorten
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render

MAX_LINES, MAX_SKIPS, LARGEST = 30, 10, 9
OTHERS = "others"


def show_weights(data: PageData, mechanism: str | None) -> str:
    name = mechanism or data.names[0]
    data.find(name)
    lines = list_weights(data.store, name, MAX_LINES)
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
        lines=lines,
        skips=[one for one in tries if one.kind != "submitted"][:MAX_SKIPS],
        shares=chart_shares(list_shares(set_before)) if set_before else None,
        concentration=chart_concentration(list_measures(set_before)) if set_before else None,
        graph=graph,
        **_split(graph, last),
    )


def list_shares(lines: Sequence[WeightsLine]) -> list[dict[str, Any]]:
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
                "miner": shorten(name),
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


def _split(graph: GraphView | None, last: WeightsLine | None) -> dict[str, Any]:
    """Who weighs and who is weighed: whoever holds a permit or earns dividends is a validator."""
    neurons = graph.neurons if graph else ()
    weighing = [one for one in neurons if one.dividends > 0 or one.vtrust > 0 or one.permit]
    ours = {one.hotkey: one.share for one in last.shares} if last else {}
    known = {one.hotkey for one in weighing}
    others = [{**to_jsonable(one), "ours": ours.get(one.hotkey)} for one in neurons if one.hotkey not in known]
    own = next((one.hotkey for one in neurons if graph is not None and one.uid == graph.own), None)
    return {
        "validators": sorted(weighing, key=lambda one: -one.stake),
        "miners": sorted(others, key=lambda one: (-(one["ours"] or 0.0), -one["incentive"], one["uid"])),
        "own": own,
    }
