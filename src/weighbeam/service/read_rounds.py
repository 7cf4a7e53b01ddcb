"""Rounds over HTTP: the list, one of them, one answer of it and why, its picture, and a signed receipt."""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.reading.answers import AnswerView
from weighbeam.engine.reading.explain import explain_answer
from weighbeam.engine.reading.receipts import write_receipt
from weighbeam.engine.reading.round_view import RoundView, find_answer, read_round_view
from weighbeam.engine.reading.rounds import STATES, list_rounds
from weighbeam.engine.story import name_heatmap, read_extras
from weighbeam.service import read_shapes
from weighbeam.service.query import Given
from weighbeam.service.read_routes import declare
from weighbeam.service.reader import Reader, spell

LIST = ("mechanism", "state", "hotkey", "cursor", "limit")
WHOLE = 1 << 40
PNG = "image/png"


def add_rounds(app: FastAPI, reader: Reader) -> None:
    route, store = partial(declare, app, tag="rounds"), reader.shown.store

    @route("/rounds", read_shapes.Rounds, names=LIST, states="round")
    async def rounds(request: Request) -> Response:
        """Rounds, newest first."""

        def read(given: Given) -> Any:
            state = given.one_of("state", STATES)
            wanted = given.text("mechanism"), state, given.text("hotkey")
            page = list_rounds(store, *wanted, given.cursor, given.most)
            return {"rounds": page.items, "next": page.next}

        return await reader.answer(request, read, LIST)

    @route("/rounds/{round_id}", RoundView, refused=(404,))
    async def one_round(request: Request, round_id: str) -> Response:
        """A round: its facts, task, answers and scores. Users' texts are told to whoever asked, and to admins."""

        def read(given: Given) -> Any:
            return read_round_view(store, round_id, given.withhold)

        return await reader.answer(request, read, round_id=round_id)


def add_answers(app: FastAPI, reader: Reader) -> None:
    route, shown = partial(declare, app, tag="rounds"), reader.shown

    @route("/rounds/{round_id}/scores/{hotkey}", read_shapes.Explained, refused=(404,))
    async def score(request: Request, round_id: str, hotkey: str) -> Response:
        """What one answer got, from which parts, and why."""

        def read(given: Given) -> Any:
            view = read_round_view(shown.store, round_id, given.withhold, WHOLE)
            answer = find_answer(view, hotkey)
            head = {"round": view.id, "mechanism": view.mechanism, "state": view.state, "withheld": view.withheld}
            return {**head, **spell(answer), "explanation": _explain(reader, view, answer)}

        return await reader.answer(request, read, round_id=round_id)

    @route("/rounds/{round_id}/receipts/{hotkey}", read_shapes.ScoreReceipt, refused=(404, 409))
    async def receipt(request: Request, round_id: str, hotkey: str) -> Response:
        """What one answer got, signed by this validator: `weighbeam receipt verify` checks it offline."""
        return await reader.answer(
            request, lambda _: write_receipt(shown.store, round_id, hotkey, shown.hotkey), settled=round_id
        )

    @route("/rounds/{round_id}/heatmap.png", PNG, refused=(404,))
    async def heatmap(request: Request, round_id: str) -> Response:
        """How alike the answers were."""

        def read(_: Given) -> bytes:
            drawn = read_extras(shown.store, round_id).get("heatmap")
            if drawn is None or drawn.value is None:
                raise WeighbeamError("no_picture", "this round has no picture", "see heatmap of /v1/rounds/{id}")
            return shown.artifacts.get(name_heatmap(round_id))

        return await reader.answer(request, read)


def _explain(reader: Reader, view: RoundView, answer: AnswerView) -> Any:
    """None where it would tell what is withheld, where nothing was scored, and where the mechanism is not installed."""
    if view.withheld or answer.status is None:
        return None
    try:
        return explain_answer(reader.recall_round(view.id), view.id, answer.hotkey)
    except WeighbeamError as fault:
        if fault.code in ("unknown_mechanism", "broken_mechanism", "bad_params"):
            return None
        raise
