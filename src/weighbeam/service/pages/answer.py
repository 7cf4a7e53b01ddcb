"""One answer: its score as a tree, the quotes it rests on, and what it said."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.round_view import RoundView, find_answer, select_round_view
from weighbeam.mechanism.records import Node
from weighbeam.service.pages.formats import format_number
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.rounds import find_columns, find_pieces, format_answer, recall_kept

MAX_SAID = 50_000


def show_answer(data: PageData, round_id: str, hotkey: str, withhold: bool) -> str:
    view = select_round_view(data.store, round_id, withhold)
    answer = find_answer(view, hotkey)
    kept = recall_kept(data, view)
    explained = None if kept is None or view.withheld else _explain(kept.explain, hotkey)
    said = None if answer.payload is None else format_payload(answer.payload)
    return render(
        "answer.html",
        data.frame(),
        "/rounds",
        data.now(),
        title=f"Answer of {hotkey} in {round_id}",
        view=view,
        one=format_answer(answer, find_columns(view), view),
        explained=explained,
        unexplained=_say_why_not(view),
        snippets=[] if kept is None or view.withheld else list_snippets(kept.report(), hotkey),
        pieces=None if kept is None or view.withheld else find_pieces(kept, view, hotkey),
        said=None if said is None else said[:MAX_SAID],
        cut=MAX_SAID if said is not None and len(said) > MAX_SAID else None,
    )


def format_payload(payload: Any) -> str:
    """The text of an answer that is one; of any other its JSON."""
    text = payload.get("text") if isinstance(payload, Mapping) else None
    said = text if isinstance(text, str) else json.dumps(payload, indent=2, ensure_ascii=False)
    return said.encode("utf-8", "replace").decode()


def list_snippets(report: Mapping[str, Any], hotkey: str) -> list[dict[str, Any]]:
    """Quotes with the place in their page, and how they were judged; none where a mechanism knows none."""
    rows: Sequence[Mapping[str, Any]] = report.get("answers", ())
    row: Mapping[str, Any] = next((row for row in rows if row.get("hotkey") == hotkey), {})
    return [_format_snippet(one) for one in row.get("snippets") or () if isinstance(one, Mapping)]


def _format_snippet(one: Mapping[str, Any]) -> dict[str, Any]:
    match: Mapping[str, Any] = one.get("match") or {}
    context, text = str(match.get("context") or ""), str(match.get("text") or one.get("excerpt") or "")
    before, found, after = context.partition(text)
    if not found:
        before = after = ""
    accepted = bool(one.get("accepted"))
    notes = [f"score {format_number(one['score'])}"] if isinstance(one.get("score"), int | float) else []
    nli = one.get("nli")
    if isinstance(nli, Mapping):
        notes += [f"{name} {format_number(value)}" for name, value in sorted(nli.items())]
    if isinstance(one.get("similarity"), int | float):
        notes.append(f"similarity to the statement {format_number(one['similarity'])}")
    return {
        "verdict": str(one.get("stance") or "accepted") if accepted else str(one.get("reason") or "refused"),
        "tone": "good" if accepted else "bad",
        "url": str(one.get("url") or ""),
        "before": before,
        "text": text,
        "after": after,
        "note": " · ".join(notes),
    }


def _explain(explain: Any, hotkey: str) -> Node | None:
    try:
        found: Node = explain(hotkey)
    except WeighbeamError:
        return None
    return found


def _say_why_not(view: RoundView) -> str:
    if view.withheld:
        return "It would tell what was asked."
    return "The round is not scored." if view.state != "scored" else "Nothing is kept that would explain it."
