"""Two miners, two rounds or two validators side by side."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import open_journal
from weighbeam.engine.views.compare import (
    AnswerPair,
    SharedRound,
    WeightPair,
    count_records,
    estimate_vtrust,
    list_changed,
    list_last_scores,
    list_shared_rounds,
    pair_answers,
    pair_weights,
)
from weighbeam.engine.views.miner import MinerView
from weighbeam.engine.views.round_view import RoundView, select_round_view
from weighbeam.engine.views.rounds import RoundFilter, find_rounds
from weighbeam.engine.views.weights import recall_last_set
from weighbeam.engine.weights.metagraphs import select_metagraph
from weighbeam.service.pages.formats import choose_decimals, format_column, format_decimals
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.rounds import find_base, list_figures
from weighbeam.service.tables.boards import find_own
from weighbeam.service.tables.shown import find_page, find_units
from weighbeam.store.database import Store

MINER_NAMES, ROUND_NAMES = ("mechanism", "a", "b"), ("a", "b")
VALIDATOR_NAMES = ("mechanism", "with", "miner")
MAX_LINES = 60
MAX_REASONS = 5
SAME = 1e-9


def show_miners(data: PageData, query: Mapping[str, str]) -> str:
    """The form alone until both are named."""
    run = data.find(query.get("mechanism") or data.names[0])
    name = run.mechanism.name
    keys = [data.shown.resolve(query[side].strip(), name) if query.get(side, "").strip() else None for side in "ab"]
    a, b = keys
    found = None if a is None or b is None else _compare_miners(data, run, a, b)
    return render(
        "compare_miners.html",
        data.frame(),
        "/rounds",
        data.now(),
        title="Compare miners",
        mechanism=name,
        names=data.names,
        typed=[query.get(side, "") for side in "ab"],
        keys=keys,
        found=found,
    )


def _compare_miners(data: PageData, run: PageMechanism, a: str, b: str) -> dict[str, Any]:
    views = [data.reader.read_miner(run.mechanism, hotkey) for hotkey in (a, b)]
    shared = list_shared_rounds(data.store, run.mechanism.name, a, b)
    units = find_units(run.mechanism.name, run.params)
    differences = [one.difference for one in shared if one.difference is not None]
    values = [side.value for one in shared for side in (one.a, one.b)]
    decimals = choose_decimals([None if value is None else value / units for value in values])

    def write(value: float | None) -> str:
        return format_decimals(None if value is None else value / units, decimals)

    return {
        "facts": _list_facts(views, units),
        "shared": [_format_shared(one, write, run) for one in shared[:MAX_LINES]],
        "counted": len(shared),
        "better": sum(gap > SAME for gap in differences),
        "worse": sum(gap < -SAME for gap in differences),
        "mean": write(sum(differences) / len(differences)) if differences else None,
        "reasons": [_count_reasons(one.reasons for one in sides) for sides in _split(shared)],
        "advice": [view.advice[:2] for view in views],
    }


def _split(shared: Sequence[SharedRound]) -> tuple[list[Any], list[Any]]:
    return [one.a for one in shared], [one.b for one in shared]


def _count_reasons(reasons: Iterator[tuple[str, ...]]) -> list[tuple[str, int]]:
    return Counter(code for codes in reasons for code in codes).most_common(MAX_REASONS)


def _list_facts(views: Sequence[MinerView], units: int) -> list[tuple[str, list[str]]]:
    standings = format_column([None if view.standing is None else view.standing / units for view in views])
    shares = ["–" if view.share is None else f"{100 * view.share:.2f} %" for view in views]
    incentives = ["–" if view.incentive is None else f"{view.incentive:.4f}" for view in views]
    places = ["–" if view.place is None else f"{view.place} of {view.of}" for view in views]
    return [("place", places), ("standing", standings), ("weight share", shares), ("incentive", incentives)]


def _format_shared(one: SharedRound, write: Any, run: PageMechanism) -> dict[str, Any]:
    """Why the two differ: a failure first, else the part of the scores that is furthest apart."""
    parts = run.mechanism.page.parts or {}
    gap = None
    if one.gap is not None:
        shown = format_column([one.gap.a, one.gap.b])
        gap = f"{parts.get(one.gap.name, one.gap.name)}: {shown[0]} against {shown[1]}"
    return {
        "id": one.id,
        "at": one.at,
        "a": {"status": one.a.status, "shown": write(one.a.value), "reasons": one.a.reasons},
        "b": {"status": one.b.status, "shown": write(one.b.value), "reasons": one.b.reasons},
        "difference": None if one.difference is None else write(one.difference),
        "ahead": "" if not one.difference else "a" if one.difference > 0 else "b",
        "gap": gap,
    }


def show_rounds_beside(data: PageData, query: Mapping[str, str], withhold: bool) -> str:
    """One round alone is compared with the one before it, which then comes first."""
    first, second = query.get("a", "").strip(), query.get("b", "").strip()
    if bool(first) != bool(second):
        later = first or second
        first, second = _find_before(data, select_round_view(data.store, later, True, 0)) or "", later
    a = select_round_view(data.store, first, withhold, 0) if first else None
    b = select_round_view(data.store, second, withhold, 0) if second else None
    found = None if a is None or b is None else _compare_rounds(a, b)
    return render(
        "compare_rounds.html",
        data.frame(),
        "/rounds",
        data.now(),
        title="Compare rounds",
        typed=[first, second],
        found=found,
    )


def _find_before(data: PageData, view: RoundView) -> str | None:
    older = find_rounds(data.store, RoundFilter(mechanism=view.mechanism, until=view.at), 5).lines
    return next((line.id for line in older if line.id != view.id), None)


def _compare_rounds(a: RoundView, b: RoundView) -> dict[str, Any]:
    pairs, views = pair_answers(a, b), (a, b)
    bases = [find_base(view) for view in views]
    columns = [
        format_column([None if one is None or one.value is None else one.value / base for one in side])
        for side, base in zip(_sides(pairs), bases, strict=True)
    ]
    figures = [{label: value for label, value, _ in list_figures(view)} for view in views]
    labels = list(dict.fromkeys((*figures[0], *figures[1])))
    return {
        "a": a,
        "b": b,
        "same": a.mechanism == b.mechanism,
        "figures": [(label, [figure.get(label, "–") for figure in figures]) for label in labels],
        "params": [(name, str(x), str(y)) for name, x, y in list_changed(a.params, b.params)],
        "rows": [
            {"pair": pair, "a": columns[0][row], "b": columns[1][row]}
            for row, pair in enumerate(pairs)
        ],
    }  # fmt: skip


def _sides(pairs: Sequence[AnswerPair]) -> tuple[list[Any], list[Any]]:
    return [pair.a for pair in pairs], [pair.b for pair in pairs]


def show_validators(data: PageData, query: Mapping[str, str]) -> str:
    """Our weights beside the consensus of the chain, and beside those of another validator whose journal is here."""
    run = data.find(query.get("mechanism") or data.names[0])
    name, journals = run.mechanism.name, data.shown.journals
    chosen = query.get("with") or next(iter(journals), "")
    if chosen and chosen not in journals:
        raise WeighbeamError("bad_query", "there is no journal of this name", "see service.journals in the settings")
    with _open_other(journals.get(chosen)) as other:
        found = _compare_validators(data, run, other, query.get("miner", "").strip())
    return render(
        "compare_validators.html",
        data.frame(),
        "/weights",
        data.now(),
        title="Compare validators",
        mechanism=name,
        names=data.names,
        journals=list(journals),
        chosen=chosen,
        found=found,
    )


@contextmanager
def _open_other(path: str | None) -> Iterator[Store | None]:
    if path is None:
        yield None
        return
    store = open_journal(path)
    try:
        yield store
    finally:
        store.close()


def _compare_validators(data: PageData, run: PageMechanism, other: Store | None, miner: str) -> dict[str, Any] | None:
    name = run.mechanism.name
    graph = select_metagraph(data.store, name)
    if graph is None:
        return None
    ours, theirs = recall_last_set(data.store, name), None if other is None else recall_last_set(other, name)
    pairs = pair_weights(graph, ours, theirs, _count(data.store, name), None if other is None else _count(other, name))
    own, them = find_own(graph), find_own(None if other is None else select_metagraph(other, name))
    beyond = next((one for one in graph.neurons if them is not None and one.hotkey == them.hotkey), None)
    hotkey = data.shown.resolve(miner, name) if miner else next((one.hotkey for one in pairs), None)
    units = find_units(name, run.params)
    return {
        "graph": graph,
        "ours": ours,
        "theirs": theirs,
        "own": own,
        "them": beyond,
        "kept": estimate_vtrust(pairs) if ours else None,
        "clipped": [one for one in sorted(pairs, key=lambda one: -one.clipped) if one.clipped > 0.001][:5],
        "rows": _format_pairs(pairs[:MAX_LINES], units),
        "compared": other is not None,
        "miner": hotkey,
        "scores": []
        if hotkey is None
        else [_format_scores(store, name, hotkey, units) for store in (data.store, other) if store is not None],
        "title": find_page(name).standing,
    }


def _count(store: Store, mechanism: str) -> Mapping[str, Any]:
    with store.read() as connection:
        return count_records(connection, mechanism)


def _format_pairs(pairs: Sequence[WeightPair], units: int) -> list[dict[str, Any]]:
    sides = [[one.record for one in pairs], [one.other for one in pairs]]
    means = [[None if one is None or one.mean is None else one.mean / units for one in side] for side in sides]
    decimals = choose_decimals([value for side in means for value in side])
    return [
        {"pair": pair, "means": [format_decimals(side[row], decimals) for side in means]}
        for row, pair in enumerate(pairs)
    ]


def _format_scores(store: Store, mechanism: str, hotkey: str, units: int) -> list[dict[str, Any]]:
    lines = list_last_scores(store, mechanism, hotkey)
    shown = format_column([None if line.value is None else line.value / units for line in lines])
    return [{"line": line, "shown": value} for line, value in zip(lines, shown, strict=True)]
