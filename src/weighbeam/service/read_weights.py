"""Weights over HTTP: what was set, the ledger of submissions, and what the chain said."""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.core.errors import require
from weighbeam.engine.insight.metagraph import read_metagraph
from weighbeam.engine.insight.weights import list_weights
from weighbeam.engine.reading.pages import cut_page, read_cursor
from weighbeam.engine.reading.submissions import STATES, list_submissions
from weighbeam.service import read_shapes
from weighbeam.service.hide_places import hide_in_submission
from weighbeam.service.query import Given
from weighbeam.service.read_mechanisms import find_run
from weighbeam.service.read_routes import declare
from weighbeam.service.reader import Reader, Shown

WEIGHTS = ("mechanism", "cursor", "limit")
LEDGER = ("mechanism", "state", "cursor", "limit")
GRAPHS = ("mechanism",)


def add_weights(app: FastAPI, reader: Reader) -> None:
    route, shown = partial(declare, app, tag="weights"), reader.shown

    @route("/weights", read_shapes.WeightsShown, names=WEIGHTS, refused=(404,))
    async def weights(request: Request) -> Response:
        """Weights of a mechanism, newest first, and how concentrated they are; `mechanism` may be left out if one is
        run alone."""

        def read(given: Given) -> Any:
            mechanism, after = choose_mechanism(shown, given), read_cursor(given.cursor, "weights", int)
            lines = list_weights(shown.store, mechanism, given.most + 1, after[0] if after else None)
            page = cut_page(lines, given.most, "weights", lambda line: (line.id,))
            return {"mechanism": mechanism, "weights": page.items, "next": page.next}

        return await reader.answer(request, read, WEIGHTS)

    @route("/submissions", read_shapes.Submissions, names=LEDGER, states="submission")
    async def submissions(request: Request) -> Response:
        """Every intent to set weights, newest first: what was planned, and how far it got."""

        def read(given: Given) -> Any:
            state = given.one_of("state", STATES)
            page = list_submissions(shown.store, given.text("mechanism"), state, given.cursor, given.most)
            return {"submissions": [hide_in_submission(line) for line in page.items], "next": page.next}

        return await reader.answer(request, read, LEDGER)

    @route("/metagraph", read_shapes.Metagraphs, names=GRAPHS, refused=(404,))
    async def metagraph(request: Request) -> Response:
        """What the chain said last of everyone, by mechanism."""

        def read(given: Given) -> Any:
            names = list(shown.mechanisms) if given.text("mechanism") is None else [choose_mechanism(shown, given)]
            found = {name: read_metagraph(shown.store, name) for name in names}
            return {"metagraphs": found}

        return await reader.answer(request, read, GRAPHS)


def choose_mechanism(shown: Shown, given: Given) -> str:
    """The one asked for, or the only one there is."""
    name = given.text("mechanism")
    if name is None:
        require(len(shown.mechanisms) == 1, "bad_query", "name a mechanism", f"one of: {', '.join(shown.mechanisms)}")
        return next(iter(shown.mechanisms))
    return find_run(shown, name)[0].name
