"""Rounds over HTTP: the list, one of them, one answer of it and why, its picture, and a signed receipt."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import Field

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rounds.narrative import name_heatmap, select_extras
from weighbeam.engine.scoring import explain_answer
from weighbeam.engine.views.receipts import issue_receipt
from weighbeam.engine.views.round_view import AnswerView, RoundView, find_answer, select_round_view
from weighbeam.engine.views.rounds import STATES, list_rounds
from weighbeam.mechanism.registry import UNUSABLE
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.query import HotkeyName, MechanismName, OneOf, PageQuery, Query
from weighbeam.service.api.reader import ReadingApi, to_jsonable

WHOLE = 1 << 40
PNG = "image/png"


class RoundsQuery(PageQuery):
    mechanism: MechanismName = None
    state: Annotated[str | None, OneOf(STATES), Field(description="in this state")] = None
    hotkey: HotkeyName = None


def add_rounds(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="rounds"), reader.shown
    private = partial(route, refused=(404,), private=True)

    @route("/rounds", reading_shapes.Rounds, query=RoundsQuery)
    def rounds(given: RoundsQuery) -> Any:
        """Rounds, newest first."""
        hotkey = shown.resolve(given.hotkey, given.mechanism)
        page = list_rounds(shown.store, given.mechanism, given.state, hotkey, given.cursor, given.limit)
        return {"rounds": page.items, "next": page.next}

    @private("/rounds/{round_id}", RoundView)
    def one_round(withhold: bool, round_id: str) -> Any:
        """A round: its facts, task, answers and scores. Users' texts are shown to their author and to admins."""
        view = select_round_view(shown.store, round_id, withhold)
        return replace(view, answers=shown.load_names().name_all(view.answers, view.mechanism))

    @private("/rounds/{round_id}/scores/{hotkey}", reading_shapes.Explained)
    def score(withhold: bool, round_id: str, hotkey: str) -> Any:
        """The score of one answer, its parts and the reasons."""
        view = select_round_view(shown.store, round_id, withhold, WHOLE)
        book = shown.load_names()
        answer = book.name_line(find_answer(view, book.resolve(hotkey, view.mechanism)), view.mechanism)
        head = {"round": view.id, "mechanism": view.mechanism, "state": view.state, "withheld": view.withheld}
        return {**head, **to_jsonable(answer), "explanation": _explain(reader, view, answer)}

    @route("/rounds/{round_id}/receipts/{hotkey}", reading_shapes.ScoreReceipt, refused=(404, 409), settles=True)
    def receipt(_: Query, round_id: str, hotkey: str) -> Any:
        """The score of one answer, signed by this validator: `weighbeam journal receipts verify` checks it offline."""
        return issue_receipt(shown.store, round_id, hotkey, shown.hotkey)

    @route("/rounds/{round_id}/heatmap.png", PNG, refused=(404,))
    def heatmap(_: Query, round_id: str) -> bytes:
        """How alike the answers were."""
        drawn = select_extras(shown.store, round_id).get("heatmap")
        if drawn is None or drawn.value is None:
            raise WeighbeamError("no_picture", "this round has no picture", "see heatmap of /v1/rounds/{id}")
        return shown.artifacts.get(name_heatmap(round_id))


def _explain(reader: ReadingApi, view: RoundView, answer: AnswerView) -> Any:
    """None where it would tell what is withheld, where nothing was scored, and where the mechanism is not installed."""
    if view.withheld or answer.status is None:
        return None
    try:
        return explain_answer(reader.recall_round(view.id), view.id, answer.hotkey)
    except WeighbeamError as fault:
        if fault.code in UNUSABLE | {"unknown_mechanism", "bad_params"}:
            return None
        raise
