"""Mechanisms over HTTP: what is run, under which parameters, who stands where."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.insight.leaderboard import read_leaderboard
from weighbeam.engine.reading.params import find_params_hash
from weighbeam.engine.reading.rounds import list_rounds
from weighbeam.engine.weigh_in.constants import hash_weighing
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.service import read_shapes
from weighbeam.service.query import Given
from weighbeam.service.read_routes import declare
from weighbeam.service.reader import Reader, Shown


def add_mechanisms(app: FastAPI, reader: Reader) -> None:
    route, shown = partial(declare, app, tag="mechanisms"), reader.shown

    @route("/mechanisms", read_shapes.Mechanisms)
    async def mechanisms(request: Request) -> Response:
        """The mechanisms run here."""
        return await reader.answer(request, lambda _: {"mechanisms": list(_list_mechanisms(shown))})

    @route("/mechanisms/{mechanism}/params", read_shapes.ParamsShown, refused=(404,))
    async def params(request: Request, mechanism: str) -> Response:
        """The parameters in force, and what each of them means."""
        return await reader.answer(request, lambda _: _write_params(shown, *find_run(shown, mechanism)))

    @route("/mechanisms/{mechanism}/standings", read_shapes.Standings, refused=(404,))
    async def standings(request: Request, mechanism: str) -> Response:
        """The leaderboard, best first."""

        def read(_: Given) -> Any:
            found = find_run(shown, mechanism)[0]
            lines = read_leaderboard(shown.store, found, shown.averaging)
            return {"mechanism": mechanism, "better": found.better, "standings": lines}

        return await reader.answer(request, read)


def find_run(shown: Shown, name: str) -> tuple[Mechanism, Params]:
    """A mechanism run here, or `unknown_mechanism`."""
    if name not in shown.mechanisms:
        told = f"{name[:100]!r} is not run here"
        raise WeighbeamError("unknown_mechanism", told, f"one of: {', '.join(shown.mechanisms) or 'none'}")
    return shown.mechanisms[name]


def _list_mechanisms(shown: Shown) -> Iterator[dict[str, Any]]:
    for name, (mechanism, _) in shown.mechanisms.items():
        newest = list_rounds(shown.store, name, most=1).items
        yield {
            "name": name,
            "kind": mechanism.kind,
            "better": mechanism.better,
            "standing": mechanism.rule.standing,
            "last_round": newest[0].id if newest else None,
        }


def _write_params(shown: Shown, mechanism: Mechanism, params: Params) -> dict[str, Any]:
    values = params.model_dump(mode="json")
    defaults = mechanism.params_type().model_dump(mode="json")
    fields = mechanism.params_type.model_fields
    return {
        "mechanism": mechanism.name,
        "params": [
            {"name": name, "value": values[name], "default": defaults[name], "about": field.description or ""}
            for name, field in fields.items()
        ],
        "params_hash": find_params_hash(shown.store, mechanism.name),
        "weighing_hash": hash_weighing(mechanism.name, values, shown.averaging),
    }
