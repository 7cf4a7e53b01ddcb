"""Weights over HTTP: what was set, the ledger of submissions, and what the chain said."""

from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import Field

from weighbeam.core.errors import require
from weighbeam.engine.views.paging import cut_page, parse_cursor
from weighbeam.engine.views.weights import STATES, list_submissions, list_weights
from weighbeam.engine.weights.metagraphs import select_metagraph
from weighbeam.service.api import reading_shapes
from weighbeam.service.api.mechanisms import find_shown_mechanism
from weighbeam.service.api.query import MechanismPageQuery, MechanismQuery, OneOf
from weighbeam.service.api.reader import ReadingApi, ReadingContext
from weighbeam.service.http.redaction import redact_submission


class SubmissionsQuery(MechanismPageQuery):
    state: Annotated[str | None, OneOf(STATES), Field(description="in this state")] = None


def add_weights(app: FastAPI, reader: ReadingApi) -> None:
    route, shown = partial(reader.declare, app, tag="weights"), reader.shown

    @route("/weights", reading_shapes.WeightsShown, query=MechanismPageQuery, refused=(404,))
    def weights(given: MechanismPageQuery) -> Any:
        """Weights of a mechanism, newest first, and how concentrated they are; `mechanism` may be left out if one is
        run alone."""
        mechanism, after = choose_mechanism(shown, given.mechanism), parse_cursor(given.cursor, "weights", int)
        lines = list_weights(shown.store, mechanism, given.limit + 1, after[0] if after else None)
        page = cut_page(lines, given.limit, "weights", lambda line: (line.id,))
        return {"mechanism": mechanism, "weights": page.items, "next": page.next}

    @route("/submissions", reading_shapes.Submissions, query=SubmissionsQuery)
    def submissions(given: SubmissionsQuery) -> Any:
        """Every intent to set weights, newest first: what was planned, and how far it got."""
        page = list_submissions(shown.store, given.mechanism, given.state, given.cursor, given.limit)
        return {"submissions": [redact_submission(line) for line in page.items], "next": page.next}

    @route("/metagraph", reading_shapes.Metagraphs, query=MechanismQuery, refused=(404,))
    def metagraph(given: MechanismQuery) -> Any:
        """What the chain said last of everyone, by mechanism."""
        name = given.mechanism
        names = list(shown.mechanisms) if name is None else [choose_mechanism(shown, name)]
        return {"metagraphs": {name: select_metagraph(shown.store, name) for name in names}}


def choose_mechanism(shown: ReadingContext, name: str | None) -> str:
    """The one asked for, or the only one there is."""
    if name is None:
        require(len(shown.mechanisms) == 1, "bad_query", "name a mechanism", f"one of: {', '.join(shown.mechanisms)}")
        return next(iter(shown.mechanisms))
    return find_shown_mechanism(shown, name)[0].name
