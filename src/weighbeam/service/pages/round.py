"""One round: what was asked, what came back, and what each answer got."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.reading.answers import AnswerView
from weighbeam.engine.reading.round_view import RoundView, read_round_view
from weighbeam.engine.what_if import WhatIf
from weighbeam.mechanisms.abilities import Advises, Tells
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.pictures.heatmap import chart_heatmap
from weighbeam.service.pages.formats import write_number, write_tokens
from weighbeam.service.pages.pieces import Piece, cut_pieces
from weighbeam.service.pages.render import render
from weighbeam.service.pages.shelf import Shelf

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "chunking": {
        "intra": "within",
        "inter": "between",
        "size_penalty": "too long",
        "qty_penalty": "too many",
        "time_penalty": "too late",
    },
    "inference": {name: name for name in ("similarity", "quality", "confidence", "consensus", "diversity")},
    "evidence": {"sum": "snippets", "speed": "speed"},
    "novelty": {},
}
MOST_COLUMNS = 6
QUESTIONS = {"document": "Document", "prompt": "Prompt", "statement": "Statement", "messages": "Conversation"}
MOST_SHOWN = 200_000
NONCE = "0" * 16
BELOW = "below"


def show_round(shelf: Shelf, round_id: str, withhold: bool) -> str:
    view = read_round_view(shelf.store, round_id, withhold)
    kept = recall_kept(shelf, view)
    best = next((one.hotkey for one in view.answers if one.best), None)
    columns = find_columns(view)
    title, question = find_question(view)
    return render(
        "round.html",
        shelf.frame(),
        "/rounds",
        shelf.now(),
        title=f"Round {view.id}",
        view=view,
        best=best,
        figures=list_figures(view),
        task_title=title,
        question=question,
        no_task="Nobody was asked: contributions came in by themselves."
        if view.kind == "collected"
        else "None is kept.",
        pieces=None if view.withheld or kept is None or best is None else find_pieces(kept, view, best),
        narrative=_tell(view, kept),
        columns=list(columns.values()),
        answers=[write_answer(one, columns, view) for one in order_answers(view.answers)],
        heatmap=None if kept is None or view.withheld else _draw(kept, view.id),
        record=list_record(view),
    )


def recall_kept(shelf: Shelf, view: RoundView) -> WhatIf | None:
    """None if it is not scored, or if its mechanism or its parameters are not known here any more."""
    if view.state != "scored":
        return None
    try:
        return shelf.reader.recall_round(view.id)
    except WeighbeamError:
        return None


def find_columns(view: RoundView) -> Mapping[str, str]:
    """The numbers an answer's score is made of: those known to say most, of other mechanisms the first few."""
    if view.mechanism in COLUMNS:
        return COLUMNS[view.mechanism]
    parts: Mapping[str, Any] = next((one.parts for one in view.answers if one.parts), {})
    names = [name for name, value in parts.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    return {name: name for name in names[:MOST_COLUMNS]}


def write_answer(one: AnswerView, columns: Mapping[str, str], view: RoundView) -> dict[str, Any]:
    parts = one.parts or {}
    cells = [value if isinstance(value := parts.get(name), int | float) else None for name in columns]
    return {
        "hotkey": one.hotkey,
        "uid": one.uid,
        "status": one.status or "observed",
        "value": one.value,
        "shown": write_value(one.value, view),
        "cells": cells,
        "seconds": one.seconds,
        "reply": one.reply,
        "reason": one.reason,
        "reasons": one.reasons,
        "meanings": find_meanings(view.mechanism, one.reasons),
    }


def find_meanings(mechanism: str, reasons: Sequence[str]) -> dict[str, str]:
    """What each reason means, where its mechanism says so."""
    try:
        known: object = load_mechanism(mechanism)
    except WeighbeamError:
        known = None
    meanings: Mapping[str, str] = known.meanings if isinstance(known, Advises) else {}
    return {reason: meanings.get(reason, "") for reason in reasons}


def write_value(value: float | None, view: RoundView) -> str:
    """A score; novelty's in tokens."""
    base = view.params.get("base_units")
    return write_tokens(value, base) if view.mechanism == "novelty" and base else write_number(value)


def order_answers(answers: Sequence[AnswerView]) -> list[AnswerView]:
    """Best first; what failed and what was not scored at the end."""
    rank = {"valid": 0, "failed": 1, "unscored": 2}
    return sorted(answers, key=lambda one: (rank.get(one.status or "", 3), -(one.value or 0.0), one.hotkey))


def find_question(view: RoundView) -> tuple[str, str | None]:
    """What it is called and what it says."""
    for name, title in QUESTIONS.items():
        given = (view.task or {}).get(name)
        if isinstance(given, str):
            return title, given[:MOST_SHOWN]
        if isinstance(given, list):
            said = (f"{one.get('role')}: {one.get('content')}" for one in given if isinstance(one, dict))
            return title, "\n\n".join(said)[:MOST_SHOWN]
    return "Task", None


def find_pieces(kept: WhatIf, view: RoundView, hotkey: str) -> list[Piece] | None:
    """A document as one miner cut it, where there is a document and the cuts are known."""
    document = (view.task or {}).get("document")
    rows: Sequence[Mapping[str, Any]] = kept.report().get("answers", ()) if isinstance(document, str) else ()
    spans = next((row.get("spans") for row in rows if row["hotkey"] == hotkey), None)
    return cut_pieces(document, spans) if spans and isinstance(document, str) and len(document) <= MOST_SHOWN else None


def list_figures(view: RoundView) -> list[tuple[str, str, str]]:
    valid = sum(one.status == "valid" for one in view.answers)
    figures = [("valid answers", f"{valid} of {len(view.answers)}", "")]
    summary: Mapping[str, Any] = view.summary or {}
    if "consensus_score" in summary:
        reached = "reached" if summary.get("achieved") else "void" if summary.get("void") else "not reached"
        figures.append(("consensus", write_number(summary["consensus_score"]), reached))
        figures.append(("similarity", write_number(summary.get("mu")), f"± {write_number(summary.get('sigma'))}"))
    if isinstance(verdict := summary.get("verdict"), Mapping):
        figures.append(
            ("verdict", str(verdict.get("verdict")), f"confidence {write_number(verdict.get('confidence'))}")
        )
    if "groups" in summary and isinstance(summary.get("group"), int):
        figures.append(("group", f"{summary['group'] + 1} of {summary['groups']}", ""))
    if "duplicates" in summary:
        figures.append(("identical answers", str(summary["duplicates"]), ""))
    return figures


def list_record(view: RoundView) -> list[tuple[str, str]]:
    known: list[tuple[str, Any]] = [
        ("params hash", view.params_hash),
        ("seed", view.seed),
        ("asked", len(view.members)),
    ]
    if view.entry is not None:
        entry = view.entry
        known += [("journal entry", entry.sequence), ("hash", entry.hash), ("hash of the one before", entry.previous)]
    known.append(("receipts", f"/v1/rounds/{view.id}/receipts/HOTKEY"))
    return [(name, str(value)) for name, value in known]


def _tell(view: RoundView, kept: WhatIf | None) -> list[str]:
    """What was told when the round was over; told now, by rule, if nothing was."""
    if view.narrative is not None:
        return view.narrative.splitlines()
    if kept is None or view.withheld or not isinstance(kept.mechanism, Tells):
        return []
    return kept.tell(BELOW, None, NONCE).text.splitlines()


def _draw(kept: WhatIf, round_id: str) -> dict[str, Any] | None:
    try:
        spec = chart_heatmap(kept.draw(round_id))
    except WeighbeamError:
        return None
    for name in ("title", "background", "config"):
        spec.pop(name, None)
    return spec
