"""Two miners, two rounds or two validators side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.engine.views.compare import (
    AnswerPair,
    SharedRound,
    WeightPair,
    compare_validators,
    count_codes,
    count_shared,
    find_round_before,
    list_changed,
    list_last_scores,
    list_shared_rounds,
    open_other_journal,
    pair_answers,
)
from weighbeam.engine.views.miner import MinerView
from weighbeam.engine.views.round_view import RoundView, select_round_view
from weighbeam.service.pages.formats import choose_decimals, format_column, format_decimals
from weighbeam.service.pages.page_data import PageData, PageMechanism
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.rounds import find_base, list_figures
from weighbeam.service.tables.shown import find_page, find_units
from weighbeam.store.database import Store

MINER_NAMES, ROUND_NAMES = ("mechanism", "a", "b"), ("a", "b")
VALIDATOR_NAMES = ("mechanism", "with", "miner")
MAX_LINES = 60


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
    totals = count_shared(shared)
    values = [side.value for one in shared for side in (one.a, one.b)]
    decimals = choose_decimals([None if value is None else value / units for value in values])

    def write(value: float | None) -> str:
        return format_decimals(None if value is None else value / units, decimals)

    return {
        "facts": _list_facts(views, units),
        "shared": [_format_shared(one, write, run) for one in shared[:MAX_LINES]],
        "totals": totals,
        "mean": None if totals.mean is None else write(totals.mean),
        "reasons": [count_codes(sides) for sides in _split(shared)],
        "advice": [view.advice[:2] for view in views],
    }


def _split(shared: Sequence[SharedRound]) -> tuple[list[Any], list[Any]]:
    return [one.a for one in shared], [one.b for one in shared]


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
        first, second = find_round_before(data.store, select_round_view(data.store, later, True, 0)) or "", later
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
    with open_other_journal(journals, query.get("with")) as (chosen, other):
        found = _show_validators(data, run, other, query.get("miner", "").strip())
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


def _show_validators(data: PageData, run: PageMechanism, other: Store | None, miner: str) -> dict[str, Any] | None:
    name = run.mechanism.name
    found = compare_validators(data.store, other, name)
    if found is None:
        return None
    hotkey = data.shown.resolve(miner, name) if miner else next((one.hotkey for one in found.pairs), None)
    units = find_units(name, run.params)
    return {
        "graph": found.graph,
        "ours": found.ours,
        "theirs": found.theirs,
        "own": found.own,
        "them": found.other,
        "kept": found.kept,
        "clipped": [one for one in sorted(found.pairs, key=lambda one: -one.clipped) if one.clipped > 0.001][:5],
        "rows": _format_pairs(found.pairs[:MAX_LINES], units),
        "compared": other is not None,
        "miner": hotkey,
        "scores": []
        if hotkey is None
        else [_format_scores(store, name, hotkey, units) for store in (data.store, other) if store is not None],
        "title": find_page(name).standing,
    }


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
