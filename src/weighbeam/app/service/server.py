"""Serve the APIs as the settings say: alone with `weighbeam serve`, or beside a validator's /health."""

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.app.chains import keep_policy
from weighbeam.app.identity import open_hotkey, open_signer
from weighbeam.app.service.access import ApiAccess, check_exposure, open_access
from weighbeam.app.service.apps import ServiceHost, find_clock, load_runs, log_overridden, make_app, serve_tools
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.app.shutdown import run_until_stopped
from weighbeam.app.validator.build import BuiltValidator, open_store
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.running.runtime import Service
from weighbeam.engine.support.package_faults import call_or_log, log_skipped
from weighbeam.engine.support.process import freeze_memory
from weighbeam.engine.views.rounds import list_mechanisms as list_played
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.registry import list_mechanisms, load_mechanism
from weighbeam.network.http_server import PER_SECOND, ListenSettings, check_listen, format_url, listen
from weighbeam.network.keys import Hotkey
from weighbeam.network.policy import SenderPolicy
from weighbeam.senses.local import LocalSenses
from weighbeam.service.app import report_health
from weighbeam.service.http.metrics import count_store
from weighbeam.service.http.threads import ThreadPools
from weighbeam.service.pages.rendering import prepare_pages
from weighbeam.store.database import Store


def run_service(loaded: LoadedSettings, mcp: bool = False) -> None:
    """Serve until SIGTERM or SIGINT: calls under way are finished; what was acknowledged is on disk."""
    hotkey, section = open_signer(loaded), loaded.settings.service
    where = check_listen(section.listen)
    store, pools = open_store(loaded), ThreadPools()
    try:
        check_exposure(loaded, store, time.time())
        access = open_access(loaded, store, hotkey.address, section.listen, pools)
        app = make_own_app(access, store, hotkey, mcp)
        asyncio.run(run_until_stopped(_serve(app, where, section.connections)))
    finally:
        pools.close()
        store.close()
    LOG.info("stopped")


def make_own_app(access: ApiAccess, store: Store, hotkey: Hotkey, mcp: bool = False) -> FastAPI:
    """All that `weighbeam serve` serves: some mechanisms are served here whether they are run or not."""
    loaded, registry = access.loaded, CollectorRegistry()
    senses = LocalSenses(loaded.settings.validator.embedder)
    runs = load_served(loaded, store)
    count_store(registry, store, [mechanism for mechanism, _ in runs.values()])
    report = partial(report_health, access.pools.submissions)
    app = make_app(access, store, hotkey, find_clock(loaded), registry, report, runs)
    for mechanism, params in runs.values():
        log_overridden(mechanism.name, params)
        _extend(mechanism, ServiceHost(app, access, store, hotkey, time.time, registry, senses, params))
    if mcp:
        serve_tools(app, access)
    return app


def _extend(mechanism: Mechanism, host: ServiceHost) -> list[SenderPolicy]:
    return call_or_log(mechanism, "extend_service", lambda: list(mechanism.extend_service(host)), [])


def load_served(loaded: LoadedSettings, store: Store) -> Mapping[str, tuple[Mechanism, Params]]:
    """The mechanisms of the settings, and those that are served without being run, with their defaults.

    Where nothing says that a validator is meant, the mechanism that a validator runs by default is left out.
    """
    runs = dict(load_runs(loaded)) if is_for_validator(loaded, store) else {}
    for name in sorted(list_mechanisms().keys() - loaded.settings.mechanisms.keys()):
        try:
            mechanism = load_mechanism(name)
            if mechanism.served_alone:
                runs[name] = mechanism, make_params(mechanism, {})
        except WeighbeamError as fault:
            log_skipped(name, fault, "the mechanism is not served")
    return runs


def is_for_validator(loaded: LoadedSettings, store: Store) -> bool:
    """Whether the settings name mechanisms, or there is a chain to weigh on, or the journal has entries of any."""
    named = any("mechanisms" in given for given in loaded.sources.values())
    section = loaded.settings.chain
    has_chain = section.kind != "local" or loaded.path(section.path).exists()
    return named or has_chain or bool(list_played(store))


def extend_validator_service(
    app: FastAPI, built: BuiltValidator, access: ApiAccess, registry: CollectorRegistry
) -> list[Service]:
    """Add the mechanisms' routes; return tasks that refresh their sender policies."""
    hotkey, clock, store = open_hotkey(access.loaded), built.runtime.clock, built.runtime.store
    services: list[Service] = []
    for runner in built.runners:
        context = runner.round_context
        host = ServiceHost(app, access, store, hotkey, clock.now, registry, context.senses, context.params)
        policies = _extend(context.mechanism, host)
        services += [partial(keep_policy, runner.weigh_in_context.chain, clock, policy) for policy in policies]
    return services


async def _serve(app: FastAPI, where: tuple[str, int], connections: int) -> None:
    limits = ListenSettings(per_address=connections, per_second=max(PER_SECOND, connections / 2))
    async with listen(app, *where, limits) as (host, port):
        LOG.info("served on %s", format_url(host, port))
        await asyncio.to_thread(prepare_pages)
        freeze_memory()
        await asyncio.Event().wait()
