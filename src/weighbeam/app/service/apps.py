"""The HTTP applications: the reading API, the dashboard and everything else that is served, put together."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.app.chains import open_clock, open_file
from weighbeam.app.service.access import ApiAccess
from weighbeam.app.settings.origins import list_settings
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.app.validator.deliveries import open_place
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.support.package_faults import log_skipped
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, list_overridden, make_params
from weighbeam.mechanism.registry import UNUSABLE, load_usable
from weighbeam.network.keys import Hotkey
from weighbeam.senses.ports.protocols import Senses
from weighbeam.service.api.mcp import MAX_BODY, add_mcp
from weighbeam.service.api.reader import ReadingApi, ReadingContext
from weighbeam.service.api.reading import add_reading
from weighbeam.service.api.request_handlers import RequestApi
from weighbeam.service.api.request_routes import add_organic
from weighbeam.service.app import Report, make_service_app
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.pages.routes import add_pages
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class ServiceHost:
    """The application that `Mechanism.extend_service` extends, and the means it may use."""

    app: FastAPI
    access: ApiAccess
    store: Store
    hotkey: Hotkey
    now: Callable[[], float]
    registry: CollectorRegistry
    senses: Senses
    params: Params


def open_reading(
    app: FastAPI,
    access: ApiAccess,
    store: Store,
    hotkey: Hotkey,
    now: Callable[[], float],
    health: Callable[[], tuple[int, dict[str, Any]]],
    runs: Mapping[str, tuple[Mechanism, Params]] | None = None,
) -> ReadingApi:
    """The routes under /v1 that read; gives what answers them, for pages of the same app."""
    loaded = access.loaded
    shown = ReadingContext(
        store=store,
        mechanisms=load_runs(loaded) if runs is None else runs,
        averaging=loaded.averaging(),
        artifacts=open_place(loaded),
        hotkey=hotkey,
        now=now,
        settings=lambda: [asdict(line) for line in list_settings(loaded)],
        health=health,
        aliases=loaded.settings.aliases,
        speed=find_speed(loaded),
        journals=name_journals(loaded.settings.service.journals),
    )
    return add_reading(app, access.make_authenticator(), shown, access.pools, loaded.settings.service.streams)


def name_journals(paths: Sequence[str]) -> dict[str, str]:
    """Paths by the name of their file, numbered where two have the same; no address of a database is taken.

    >>> name_journals(["/a/validator-2.db", "/b/validator-2.db"])
    {'validator-2': '/a/validator-2.db', 'validator-2 (2)': '/b/validator-2.db'}
    """
    named: dict[str, str] = {}
    for path in paths:
        require("://" not in path, "bad_config", "service.journals takes paths of files", "name a journal by its path")
        stem, number = Path(path).stem, 1
        while (name := stem if number == 1 else f"{stem} ({number})") in named:
            number += 1
        named[name] = path
    return named


def load_runs(loaded: LoadedSettings) -> Mapping[str, tuple[Mechanism, Params]]:
    """The mechanisms of the settings that load, with their parameters; a broken package is logged and left out."""
    runs = {}
    usable, broken = load_usable(loaded.settings.mechanisms)
    for name, mechanism in usable.items():
        try:
            runs[name] = mechanism, make_params(mechanism, loaded.settings.mechanisms[name].given_params)
        except WeighbeamError as fault:
            if fault.code not in UNUSABLE:
                raise
            broken[name] = fault
    for name, why in broken.items():
        log_skipped(name, why, "the mechanism is not served")
    return runs


def log_overridden(name: str, params: Params) -> None:
    """Log at the start which parameters differ from the defaults."""
    if changed := list_overridden(params):
        LOG.warning("%s: parameters overridden: %s", name, ", ".join(changed))


def make_app(
    access: ApiAccess,
    store: Store,
    hotkey: Hotkey,
    now: Callable[[], float],
    registry: CollectorRegistry,
    report: Report,
    runs: Mapping[str, tuple[Mechanism, Params]],
) -> FastAPI:
    """Make the app: reading API, pages and organic API; contributions and challenges are added.

    `/metrics` has its own rate limit, so that readers never keep Prometheus out.
    """
    settings = access.loaded.settings.service
    pools, authenticator = access.pools, replace(access.make_authenticator(), rate_limits=RateLimits())
    pipeline = RequestPipeline(authenticator, 0, {}, pools.metrics.run, pools.proofs.run, pools.tokens.run)
    app = make_service_app(pools.submissions, registry, settings.origins, report, pipeline)
    add_pages(app, open_reading(app, access, store, hotkey, now, report, runs))
    asked = {name: run for name, run in runs.items() if run[0].kind == "asked"}
    api = RequestApi(store, asked, now)
    add_organic(app, access.make_authenticator(), api, pools, settings.streams)
    return app


def serve_tools(app: FastAPI, access: ApiAccess) -> None:
    """Add the MCP server. Its messages are counted apart, so that a call of a tool is one call of the API."""
    authenticator = replace(access.make_authenticator(), rate_limits=RateLimits())
    pools = access.pools
    pipeline = RequestPipeline(authenticator, MAX_BODY, {}, pools.reading.run, pools.proofs.run, pools.tokens.run)
    add_mcp(app, pipeline, access.loaded.settings.service.origins)


def find_speed(loaded: LoadedSettings) -> float:
    """How many times as fast as the wall's the clock of `find_clock` goes."""
    if loaded.settings.chain.kind != "local" or not loaded.path(loaded.settings.chain.path).exists():
        return 1.0
    file = open_file(loaded)
    try:
        return float(file.read("speed"))
    finally:
        file.close()


def find_clock(loaded: LoadedSettings) -> Callable[[], float]:
    """The validator's clock, so that times in the store agree; the wall's if there is no chain here."""
    section = loaded.settings.chain
    local = section.kind == "local" and loaded.path(section.path).exists()
    return open_clock(loaded).now if local else time.time
