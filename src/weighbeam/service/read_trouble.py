"""What went wrong, over HTTP: alerts, who tries what, and records of copies."""

from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response

from weighbeam.engine.insight.attacks import Attacks, read_attacks
from weighbeam.engine.reading.alerts import LEVELS, list_alerts
from weighbeam.engine.reading.copies import list_copies
from weighbeam.service import read_shapes
from weighbeam.service.hide_places import hide_in_attacks, hide_in_line
from weighbeam.service.query import Given
from weighbeam.service.read_routes import declare
from weighbeam.service.reader import Reader

ALERTS = ("mechanism", "code", "level", "cursor", "limit")
ATTACKS = ("hours",)
MOST_HOURS, DAY = 720, 24
ATTACKS_SECONDS = 30.0
COPIES = ("hotkey", "cursor", "limit")


def add_trouble(app: FastAPI, reader: Reader) -> None:
    route, store = partial(declare, app, tag="trouble"), reader.shown.store

    @route("/alerts", read_shapes.AlertsShown, names=ALERTS)
    async def alerts(request: Request) -> Response:
        """Alerts, newest first, and what to do about each."""

        def read(given: Given) -> Any:
            wanted = given.text("mechanism"), given.text("code"), given.one_of("level", LEVELS)
            page = list_alerts(store, *wanted, given.cursor, given.most)
            return {"alerts": [hide_in_line(line) for line in page.items], "next": page.next}

        return await reader.answer(request, read, ALERTS)

    @route("/attacks", Attacks, names=ATTACKS)
    async def attacks(request: Request) -> Response:
        """Who tried what in the last hours: copies, suspects, and contributions that were refused."""

        def read(given: Given) -> Any:
            hours = given.number("hours", 1, MOST_HOURS, DAY)
            return hide_in_attacks(read_attacks(store, reader.shown.now(), hours))

        return await reader.answer(request, read, ATTACKS, seconds=ATTACKS_SECONDS)

    @route("/copies", read_shapes.Copies, names=COPIES)
    async def copies(request: Request) -> Response:
        """Who gave the same answer as somebody else, newest first; no clean-up removes these records."""

        def read(given: Given) -> Any:
            page = list_copies(store, given.text("hotkey"), given.cursor, given.most)
            return {"copies": page.items, "next": page.next}

        return await reader.answer(request, read, COPIES)
