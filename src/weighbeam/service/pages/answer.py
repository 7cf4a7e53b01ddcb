"""One answer: its score as a tree, the quotes it rests on, and what it said."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from weighbeam.charts.picture import ChartPicture
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.scoring import ScoreResult
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.engine.views.round_view import RoundView, find_answer, select_round_view
from weighbeam.mechanism.records import Node
from weighbeam.service.pages.formats import format_number
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.rounds import find_columns, find_pieces, format_answer, recall_kept
from weighbeam.service.tables.shown import find_page

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
        pictures=() if kept is None or view.withheld else list_pictures(kept, hotkey),
        quotes=[] if kept is None or view.withheld else list_quotes(kept, hotkey),
        quotes_title=find_page(view.mechanism).quotes_title,
        pieces=None if kept is None or view.withheld else find_pieces(kept, view, hotkey),
        said=None if said is None else said[:MAX_SAID],
        cut=MAX_SAID if said is not None and len(said) > MAX_SAID else None,
    )


def format_payload(payload: Any) -> str:
    """The text of an answer that is one; of any other its JSON."""
    text = payload.get("text") if isinstance(payload, Mapping) else None
    said = text if isinstance(text, str) else json.dumps(payload, indent=2, ensure_ascii=False)
    return said.encode("utf-8", "replace").decode()


def list_pictures(kept: ScoreResult, hotkey: str) -> tuple[ChartPicture, ...]:
    """The mechanism's own pictures of an answer; a page does without those that its package cannot draw."""
    scored = any(score.hotkey == hotkey for score in kept.scored.scores)
    return call_or_log(kept.mechanism, "answer_pictures", partial(kept.pictures, hotkey), ()) if scored else ()


def list_quotes(kept: ScoreResult, hotkey: str) -> list[dict[str, Any]]:
    """The quotes that an answer rests on, with their surroundings; none where a mechanism knows none."""
    quotes = kept.mechanism.page.quotes
    found = quotes(kept.report(), hotkey) if quotes is not None else ()
    return [
        {
            "quote": one,
            "tone": "good" if one.accepted else "bad",
            "note": " · ".join(f"{name} {format_number(value)}" for name, value in one.numbers.items()),
        }
        for one in found
    ]


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
