"""Chunking on pages and in tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.mechanism.page import MechanismPage, Report, RoundFigure, Span
from weighbeam.mechanisms.chunking.pictures.answer import draw_answer
from weighbeam.mechanisms.chunking.pictures.board import draw_board
from weighbeam.mechanisms.chunking.ui.chunks import list_chunks


def list_figures(summary: Mapping[str, Any]) -> list[RoundFigure]:
    figures = []
    if "groups" in summary and isinstance(summary.get("group"), int):
        figures.append(RoundFigure("group", f"{summary['group'] + 1} of {summary['groups']}"))
    if "duplicates" in summary:
        figures.append(RoundFigure("identical answers", str(summary["duplicates"])))
    return figures


def find_cuts(task: Mapping[str, Any], report: Report, hotkey: str) -> tuple[str, Sequence[Span | None]] | None:
    spans = next((row["spans"] for row in report["answers"] if row["hotkey"] == hotkey), None)
    return (task["document"], spans) if spans else None


PAGE = MechanismPage(
    lead="Miners split a document; chunks that hold together and stand apart win. The standing is a rank.",
    parts={
        "intra": "within",
        "inter": "between",
        "size_penalty": "too long",
        "qty_penalty": "too many",
        "time_penalty": "too late",
    },
    task_fields={"document": "Document"},
    form_field="document",
    form_label="Chunk this document",
    standing="rank",
    legend="rank: moving average of places, lower is better\n"
    "climbing the metric keeps every rule, so it counts as honest here; the lab lists it as\n"
    "the attack metric-climbing, since a higher score need not mean better chunks",
    figures=list_figures,
    cuts=find_cuts,
    texts=list_chunks,
    answer_pictures=draw_answer,
    board_pictures=draw_board,
)
