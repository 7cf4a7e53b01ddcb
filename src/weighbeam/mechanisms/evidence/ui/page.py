"""Evidence on pages and in tables."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.page import AnswerQuote, AnswerText, MechanismPage, Report, RoundFigure

MAX_SNIPPETS, MAX_URL = 50, 300


def list_figures(summary: Mapping[str, Any]) -> list[RoundFigure]:
    verdict = summary.get("verdict")
    if not isinstance(verdict, Mapping):
        return []
    return [RoundFigure("verdict", str(verdict.get("verdict")), "confidence ", verdict.get("confidence"))]


def list_quotes(report: Report, hotkey: str) -> list[AnswerQuote]:
    row: Mapping[str, Any] = next((row for row in report["answers"] if row["hotkey"] == hotkey), {})
    return [_make_quote(one) for one in row.get("snippets") or ()]


def _make_quote(snippet: Mapping[str, Any]) -> AnswerQuote:
    match: Mapping[str, Any] = snippet.get("match") or {}
    text = str(match.get("text") or snippet.get("excerpt") or "")
    before, found, after = str(match.get("context") or "").partition(text)
    accepted = bool(snippet.get("accepted")) and not snippet.get("copy_of")
    judged = {"score": snippet.get("score"), **dict(sorted((snippet.get("nli") or {}).items()))}
    judged["similarity to the statement"] = snippet.get("similarity")
    return AnswerQuote(
        source=str(snippet.get("url") or ""),
        text=text,
        before=before if found else "",
        after=after if found else "",
        verdict=str(snippet.get("stance") or "accepted") if accepted else str(snippet.get("reason") or "refused"),
        accepted=accepted,
        numbers={name: value for name, value in judged.items() if value is not None},
    )


def list_snippets(_store: Any, _task: Mapping[str, Any], payload: Any) -> list[AnswerText]:
    """The quotes that an answer sent, each with its address.

    >>> list_snippets(None, {}, {"snippets": [{"url": "https://a.example", "excerpt": "It is so."}, 7]})
    [AnswerText(text='It is so.', note='https://a.example', fault='')]
    """
    snippets = payload.get("snippets") if isinstance(payload, Mapping) else None
    rows = [one for one in snippets if isinstance(one, Mapping)] if isinstance(snippets, list) else []
    return [
        AnswerText(str(one.get("excerpt") or ""), str(one.get("url") or "")[:MAX_URL]) for one in rows[:MAX_SNIPPETS]
    ]


PAGE = MechanismPage(
    lead="Miners back or refute a statement with quotes, checked on their page. The standing is an average.",
    parts={"sum": "snippets", "speed": "speed"},
    task_fields={"statement": "Statement"},
    form_field="statement",
    form_label="Check this statement",
    standing="avg",
    table_width=104,
    legend="avg: moving average of values; half of what is not burnt goes to the first, a quarter to the second …",
    figures=list_figures,
    texts=list_snippets,
    quotes=list_quotes,
    quotes_title="Evidence",
)
