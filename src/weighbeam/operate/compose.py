"""Everything that is served, put together in one place: beside a validator, on its own, in the demo."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.network.keys import Hotkey
from weighbeam.operate.chains import open_clock
from weighbeam.operate.gates import Entrance
from weighbeam.operate.reading import open_reading
from weighbeam.service.app import Report, make_service_app
from weighbeam.service.clerk import Clerk
from weighbeam.service.front import Front
from weighbeam.service.organic import add_organic
from weighbeam.service.paces import Paces
from weighbeam.service.pages.add_pages import add_pages
from weighbeam.settings.load import Loaded
from weighbeam.store.database import Store


def make_app(
    entrance: Entrance,
    store: Store,
    hotkey: Hotkey,
    now: Callable[[], float],
    registry: CollectorRegistry,
    report: Report,
    runs: Mapping[str, tuple[Mechanism, Params]],
) -> FastAPI:
    """The reading API, the pages, and the way to ask; what takes contributions and challenges in is added to it.

    Whoever looks at `/metrics` does so at a pace of its own: no reader keeps Prometheus out.
    """
    settings = entrance.loaded.settings.service
    pools, gate = entrance.pools, replace(entrance.make_gate(), paces=Paces())
    front = Front(gate, 0, {}, pools.metrics.run, pools.proofs.run, pools.tokens.run)
    app = make_service_app(pools.desk, registry, settings.origins, report, front)
    add_pages(app, open_reading(app, entrance, store, hotkey, now, report, runs))
    asked = {name: run for name, run in runs.items() if run[0].kind == "asked"}
    clerk = Clerk(store, asked, now)
    add_organic(app, entrance.make_gate(), clerk, pools, settings.streams)
    return app


def find_clock(loaded: Loaded) -> Callable[[], float]:
    """The validator's clock, so that times in the store agree; the wall's if there is no chain here."""
    section = loaded.settings.chain
    local = section.kind == "local" and loaded.path(section.path).exists()
    return open_clock(loaded).now if local else time.time
