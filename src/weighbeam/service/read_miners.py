"""Miners over HTTP: where one stands and why, and its scores."""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.reading.scores import list_scores
from weighbeam.service import read_shapes
from weighbeam.service.query import Given
from weighbeam.service.read_mechanisms import find_run
from weighbeam.service.read_routes import declare
from weighbeam.service.reader import Reader

ONE = ("mechanism",)
SCORES = ("mechanism", "cursor", "limit")


def add_miners(app: FastAPI, reader: Reader) -> None:
    route, shown = partial(declare, app, tag="miners", refused=(404,)), reader.shown

    @route("/miners/{hotkey}", read_shapes.Miner, names=ONE)
    async def miner(request: Request, hotkey: str) -> Response:
        """One miner by mechanism: place, standing over time, why answers failed, what would help."""

        def read(given: Given) -> Any:
            name = given.text("mechanism")
            names = list(shown.mechanisms) if name is None else [find_run(shown, name)[0].name]
            found = _read_views(reader, hotkey, names)
            if not found:
                raise _refuse(hotkey)
            return {"hotkey": hotkey, "mechanisms": found}

        return await reader.answer(request, read, ONE)

    @route("/miners/{hotkey}/scores", read_shapes.Scores, names=SCORES)
    async def scores(request: Request, hotkey: str) -> Response:
        """One miner's scores, newest first."""

        def read(given: Given) -> Any:
            page = list_scores(shown.store, hotkey, given.text("mechanism"), given.cursor, given.most)
            if not page.items and given.cursor is None:
                raise _refuse(hotkey)
            return {"hotkey": hotkey, "scores": page.items, "next": page.next}

        return await reader.answer(request, read, SCORES)


def _read_views(reader: Reader, hotkey: str, names: list[str]) -> dict[str, Any]:
    """By mechanism, where the miner is known."""
    found = {}
    for name in names:
        try:
            view = reader.read_miner(reader.shown.mechanisms[name][0], hotkey)
        except WeighbeamError as fault:
            if fault.code != "unknown_hotkey":
                raise
        else:
            found[name] = view
    return found


def _refuse(hotkey: str) -> WeighbeamError:
    return WeighbeamError("unknown_hotkey", f"{hotkey[:100]!r} has no score here", "see the standings")
