"""Miners over HTTP: where one stands and why, and its scores."""

from functools import partial
from typing import Any

from fastapi import FastAPI

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.miner import list_scores
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.mechanisms import find_shown_mechanism
from weighbeam.service.api.query import MechanismPageQuery, MechanismQuery
from weighbeam.service.api.reader import ReadingApi


def add_miners(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="miners", refused=(404,)), reader.shown

    @route("/miners/{hotkey}", reading_shapes.MinerShown, query=MechanismQuery)
    def miner(given: MechanismQuery, hotkey: str) -> Any:
        """One miner by mechanism: place, standing over time, why answers failed, what would help."""
        name = given.mechanism
        names = list(shown.mechanisms) if name is None else [find_shown_mechanism(shown, name)[0].name]
        found = _gather_views(reader, hotkey, names)
        if not found:
            raise _refuse(hotkey)
        return {"hotkey": hotkey, "mechanisms": found}

    @route("/miners/{hotkey}/scores", reading_shapes.Scores, query=MechanismPageQuery)
    def scores(given: MechanismPageQuery, hotkey: str) -> Any:
        """One miner's scores, newest first."""
        page = list_scores(shown.store, hotkey, given.mechanism, given.cursor, given.limit)
        if not page.items and given.cursor is None:
            raise _refuse(hotkey)
        return {"hotkey": hotkey, "scores": page.items, "next": page.next}


def _gather_views(reader: ReadingApi, hotkey: str, names: list[str]) -> dict[str, Any]:
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
