"""The list of rounds, and one round: what was asked, what came back, and what each answer got."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from weighbeam.charts.heatmap import FLAG, chart_heatmap
from weighbeam.charts.text import tame_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.scoring import ScoreResult
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.round_view import AnswerView, RoundView, select_round_view
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.blame import Lateness
from weighbeam.service.pages.formats import format_column, format_number
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.tables.rounds import ANSWERS, ROUNDS
from weighbeam.service.tables.shown import find_page
from weighbeam.service.tables.view import list_names, view_table


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A run of text; without a number it belongs to no chunk."""

    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document in pieces, and how many chunks the answer has: gaps are pieces too, covered chunks are none."""

    pieces: list[DocumentPiece]
    chunks: int


def cut_pieces(document: str, spans: Sequence[Sequence[int] | None]) -> list[DocumentPiece]:
    """Chunks by their spans and what lies between them; where two chunks overlap, the first has it.

    >>> [(one.text, one.number) for one in cut_pieces("one two three", [[0, 3], [4, 13]])]
    [('one', 1), (' ', None), ('two three', 2)]
    """
    pieces: list[DocumentPiece] = []
    at = 0
    placed = [(span[0], span[1], number) for number, span in enumerate(spans, 1) if span is not None]
    for start, end, number in sorted(placed):
        if start > at:
            pieces.append(DocumentPiece(document[at:start]))
        if end > max(at, start):
            pieces.append(DocumentPiece(document[max(at, start) : end], number))
        at = max(at, end)
    return [*pieces, DocumentPiece(document[at:])] if at < len(document) else pieces


MAX_COLUMNS = 6
MAX_ANSWERS = 300
MAX_NAME = 16
MAX_SHOWN = 200_000
NONCE = "0" * 16
BELOW = "below"


ANSWER_NAMES = list_names(ANSWERS)


def show_round(data: PageData, round_id: str, withhold: bool, query: Mapping[str, str] | None = None) -> str:
    view = select_round_view(data.store, round_id, withhold)
    kept = recall_kept(data, view)
    best = next((one.hotkey for one in view.answers if one.best), None)
    columns = find_columns(view)
    title, question = find_question(view)
    table = view_table(
        ANSWERS, data.tables, f"/rounds/{quote(view.id, safe='')}", query or {}, {"round": view.id}, rows=MAX_ANSWERS
    )
    return render(
        "round.html",
        data.frame(),
        "/rounds",
        data.now(),
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
        narrative=_narrate(view, kept),
        hotkeys=[one.hotkey for one in view.answers],
        picture=f"/v1/rounds/{quote(view.id, safe='')}/heatmap.png" if view.heatmap else None,
        columns=list(columns.values()),
        table=table,
        answers=format_columns([format_answer(row.answer, columns, view) for row in table.rows], len(columns)),
        heatmap=None if kept is None or view.withheld else _draw(kept, view.id, data.shown.load_names()),
        record=list_record(view),
    )


def recall_kept(data: PageData, view: RoundView) -> ScoreResult | None:
    """None if it is not scored, or if its mechanism or its parameters are not known here any more."""
    if view.state != "scored":
        return None
    try:
        return data.reader.recall_round(view.id)
    except WeighbeamError:
        return None


def find_columns(view: RoundView) -> Mapping[str, str]:
    """The numbers an answer's score is made of: those its mechanism names, or the first few."""
    declared = find_page(view.mechanism).parts
    if declared is not None:
        return declared
    parts: Mapping[str, Any] = next((one.parts for one in view.answers if one.parts), {})
    names = [name for name, value in parts.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    return {name: name for name in names[:MAX_COLUMNS]}


def format_answer(one: AnswerView, columns: Mapping[str, str], view: RoundView) -> dict[str, Any]:
    parts = one.parts or {}
    cells = [value if isinstance(value := parts.get(name), int | float) else None for name in columns]
    return {
        "hotkey": one.hotkey,
        "uid": one.uid,
        "status": one.status or "observed",
        "value": one.value,
        "score": None if one.value is None else one.value / find_base(view),
        "shown": format_value(one.value, view),
        "cells": cells,
        "seconds": one.seconds,
        "reply": one.reply,
        "reason": one.reason,
        "reasons": one.reasons,
        "meanings": find_meanings(view.mechanism, one.reasons),
    }


def format_columns(answers: list[dict[str, Any]], columns: int) -> list[dict[str, Any]]:
    """The numbers of each column written alike."""
    scores = format_column([one["score"] for one in answers])
    seconds = format_column([one["seconds"] for one in answers], 3)
    cells = [format_column([one["cells"][at] for one in answers]) for at in range(columns)]
    return [
        {**one, "shown": scores[row], "time": seconds[row], "cells": [column[row] for column in cells]}
        for row, one in enumerate(answers)
    ]


def find_meanings(mechanism: str, reasons: Sequence[str]) -> dict[str, str]:
    """Meaning of each reason, if its mechanism gives one."""
    try:
        meanings = load_mechanism(mechanism).meanings
    except WeighbeamError:
        meanings = {}
    return {reason: meanings.get(reason, "") for reason in reasons}


def format_value(value: float | None, view: RoundView) -> str:
    """A score, in tokens where it is paid in units of them."""
    return format_number(None if value is None else value / find_base(view))


def find_base(view: RoundView) -> int:
    """Units of a token where scores are paid in them, else 1."""
    return int(view.params.get(find_page(view.mechanism).token_units) or 1)


def find_question(view: RoundView) -> tuple[str, str | None]:
    """Title and text of the question; of a mechanism that does not name its question, the whole task."""
    if view.kind == "collected":
        return "Task", None
    fields = find_page(view.mechanism).task_fields
    if not fields and view.task:
        return "Task", json.dumps(view.task, indent=2, ensure_ascii=False)[:MAX_SHOWN]
    for name, title in fields.items():
        given = (view.task or {}).get(name)
        if isinstance(given, str):
            return title, given[:MAX_SHOWN]
        if isinstance(given, list):
            said = (f"{one.get('role')}: {one.get('content')}" for one in given if isinstance(one, dict))
            return title, "\n\n".join(said)[:MAX_SHOWN]
    return "Task", None


def find_pieces(kept: ScoreResult, view: RoundView, hotkey: str) -> CutDocument | None:
    """A text of the task as one miner cut it, where the mechanism knows the cuts."""
    cuts = kept.mechanism.page.cuts
    found = cuts(view.task, kept.report(), hotkey) if cuts is not None and view.task else None
    if found is None or len(found[0]) > MAX_SHOWN:
        return None
    return CutDocument(cut_pieces(*found), len(found[1]))


def list_figures(view: RoundView) -> list[tuple[str, str, str]]:
    """Label, value and note of what a round came to."""
    valid = sum(one.status == "valid" for one in view.answers)
    figures = [("valid answers", f"{valid} of {len(view.answers)}", "")]
    declared = find_page(view.mechanism).figures
    for one in declared(view.summary or {}) if declared is not None else ():
        value = one.value if isinstance(one.value, str) else format_number(one.value)
        figures.append((one.label, value, one.note if one.number is None else one.note + format_number(one.number)))
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


def _narrate(view: RoundView, kept: ScoreResult | None) -> list[str]:
    """The narrative written when the round ended; if there is none, one is written now by rule."""
    if view.lateness is not None:
        return [f"This machine was late while it asked, so nobody is charged: {Lateness(**view.lateness)}."]
    if view.narrative is not None:
        return view.narrative.splitlines()
    if kept is None or view.withheld or not kept.mechanism.narrates:
        return []
    return kept.tell(BELOW, None, NONCE).text.splitlines()


def _draw(kept: ScoreResult, round_id: str, book: NameBook) -> dict[str, Any] | None:
    """The heatmap without what its page says around it, and with the names that people know."""
    try:
        heatmap = kept.draw(round_id)
        spec = chart_heatmap(heatmap)
    except WeighbeamError:
        return None
    for name in ("title", "background", "config"):
        spec.pop(name, None)
    known = [book.name(hotkey, kept.mechanism.name) for hotkey in heatmap.hotkeys]
    for param in spec["params"]:
        if param["name"] == "names":
            param["value"] = [
                shown if alias is None else (FLAG if flag else "") + tame_text(alias, MAX_NAME)
                for shown, alias, flag in zip(param["value"], known, heatmap.flagged, strict=True)
            ]
    for row, alias in zip(spec["datasets"]["answers"], known, strict=True):
        row["name"] = row["name"] if alias is None else f"{tame_text(alias, MAX_NAME)} · {row['name']}"
    return spec


ROUND_NAMES = list_names(ROUNDS)


def show_rounds(data: PageData, query: Mapping[str, str]) -> str:
    if query.get("mechanism"):
        data.find(query["mechanism"])
    return render(
        "rounds.html",
        data.frame(),
        "/rounds",
        data.now(),
        title="Rounds",
        table=view_table(ROUNDS, data.tables, "/rounds", query),
    )
