"""Mechanisms over HTTP: parameters in force and the leaderboard."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import FastAPI

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.rules.constants import hash_weighing
from weighbeam.engine.views.leaderboard import select_leaderboard
from weighbeam.engine.views.rounds import list_rounds, select_params_hash
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.query import Query
from weighbeam.service.api.reader import ReadingApi, ReadingContext


def add_mechanisms(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="mechanisms"), reader.shown

    @route("/mechanisms", reading_shapes.Mechanisms)
    def mechanisms(_: Query) -> Any:
        """The mechanisms run here."""
        return {"mechanisms": list(_list_mechanisms(shown))}

    @route("/mechanisms/{mechanism}/params", reading_shapes.ParamsShown, refused=(404,))
    def params(_: Query, mechanism: str) -> Any:
        """The parameters in force, and what each of them means."""
        return _format_params(shown, *find_shown_mechanism(shown, mechanism))

    @route("/mechanisms/{mechanism}/standings", reading_shapes.Standings, refused=(404,))
    def standings(_: Query, mechanism: str) -> Any:
        """The leaderboard, best first."""
        found = find_shown_mechanism(shown, mechanism)[0]
        lines = shown.load_names().name_all(select_leaderboard(shown.store, found, shown.averaging), mechanism)
        return {"mechanism": mechanism, "better": found.better, "standings": lines}


def find_shown_mechanism(shown: ReadingContext, name: str) -> tuple[Mechanism, Params]:
    """A mechanism run here, or `unknown_mechanism`."""
    if name not in shown.mechanisms:
        told = f"{name[:100]!r} is not run here"
        raise WeighbeamError("unknown_mechanism", told, f"one of: {', '.join(shown.mechanisms) or 'none'}")
    return shown.mechanisms[name]


def choose_mechanism(shown: ReadingContext, name: str | None) -> str:
    """The one asked for, or the only one there is."""
    if name is None:
        require(len(shown.mechanisms) == 1, "bad_query", "name a mechanism", f"one of: {', '.join(shown.mechanisms)}")
        return next(iter(shown.mechanisms))
    return find_shown_mechanism(shown, name)[0].name


def _list_mechanisms(shown: ReadingContext) -> Iterator[dict[str, Any]]:
    for name, (mechanism, _) in shown.mechanisms.items():
        newest = list_rounds(shown.store, name, limit=1).items
        yield {
            "name": name,
            "kind": mechanism.kind,
            "better": mechanism.better,
            "standing": mechanism.rule.standing,
            "last_round": newest[0].id if newest else None,
        }


def _format_params(shown: ReadingContext, mechanism: Mechanism, params: Params) -> dict[str, Any]:
    values = params.model_dump(mode="json")
    defaults = mechanism.params_type().model_dump(mode="json")
    fields = mechanism.params_type.model_fields
    return {
        "mechanism": mechanism.name,
        "params": [
            {"name": name, "value": values[name], "default": defaults[name], "about": field.description or ""}
            for name, field in fields.items()
        ],
        "params_hash": select_params_hash(shown.store, mechanism.name),
        "weighing_hash": hash_weighing(mechanism.name, values, shown.averaging),
    }
