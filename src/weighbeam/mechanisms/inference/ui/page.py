"""Inference on pages and in tables."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.page import MechanismPage, RoundFigure


def list_figures(summary: Mapping[str, Any]) -> list[RoundFigure]:
    if "consensus_score" not in summary:
        return []
    reached = "reached" if summary.get("achieved") else "void" if summary.get("void") else "not reached"
    return [
        RoundFigure("consensus", summary["consensus_score"], reached),
        RoundFigure("similarity", summary.get("mu"), "± ", summary.get("sigma")),
    ]


PAGE = MechanismPage(
    lead="Miners answer a prompt; answers of quality that agree are paid. The standing averages emissions.",
    parts={name: name for name in ("similarity", "quality", "confidence", "consensus", "diversity")},
    task_fields={"prompt": "Prompt", "messages": "Conversation"},
    form_field="prompt",
    form_label="Answer this prompt",
    standing="earned",
    decimals=1,
    legend="earned: average emission; shares pay: copy and original have one pay together\n"
    "a fluent lie is paid like an answer: truth is not judged",
    figures=list_figures,
)
