"""One answer: its score as a tree, the quotes it rests on, and what it said."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from weighbeam.charts.picture import ChartPicture
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.scoring import ScoreResult
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.engine.views.round_view import RoundView, find_answer, select_round_view
from weighbeam.mechanism.page import AnswerText
from weighbeam.mechanism.records import Node
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.service.pages.formats import format_number
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.pages.rounds import find_columns, find_pieces, find_question, format_answer, recall_kept
from weighbeam.service.tables.rounds import order_answers
from weighbeam.service.tables.shown import find_page

MAX_SAID = 50_000
WHOLE = 1 << 40


def show_answer(data: PageData, round_id: str, hotkey: str, withhold: bool) -> str:
    view = select_round_view(data.store, round_id, withhold, WHOLE)
    answer = find_answer(view, hotkey)
    kept = recall_kept(data, view)
    texts = [] if view.withheld or answer.payload is None else list_texts(data, view, answer.payload)
    title, question = find_question(view)
    best = next((one.hotkey for one in view.answers if one.best), None)
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
        texts=texts,
        task_title=title,
        question=question,
        best=best,
        cut_best=None
        if kept is None or view.withheld or best in (None, hotkey)
        else find_pieces(kept, view, str(best)),
        around=find_around(view, hotkey),
        said=None if said is None else said[:MAX_SAID],
        cut=MAX_SAID if said is not None and len(said) > MAX_SAID else None,
    )


@dataclass(frozen=True, slots=True)
class AnswersAround:
    """The place of an answer in the order of its round's page, and whose are before and after it."""

    place: int
    of: int
    before: str | None
    after: str | None


def find_around(view: RoundView, hotkey: str) -> AnswersAround:
    ordered = [one.hotkey for one in order_answers(view.answers)]
    at = ordered.index(hotkey)
    after = ordered[at + 1] if at + 1 < len(ordered) else None
    return AnswersAround(at + 1, len(ordered), ordered[at - 1] if at else None, after)


def list_texts(data: PageData, view: RoundView, payload: Any) -> Sequence[AnswerText]:
    """The texts of an answer where its mechanism can tell them; at most so many characters of them all."""
    texts = find_page(view.mechanism).texts
    if texts is None:
        return ()
    mechanism, left = load_mechanism(view.mechanism), MAX_SAID
    kept, none = list[AnswerText](), tuple[AnswerText, ...]()
    for one in call_or_log(mechanism, "texts", lambda: tuple(texts(data.store, view.task or {}, payload)), none):
        kept.append(replace(one, text=one.text[:left].encode("utf-8", "replace").decode()))
        left -= len(one.text)
        if left <= 0:
            break
    return kept


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
