"""Run a validator until it is stopped, with its health page, APIs and challenges."""

import asyncio
import os
import time
from collections.abc import Sequence
from functools import partial

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.app.chains import open_chain
from weighbeam.app.identity import open_hotkey
from weighbeam.app.service.access import ApiAccess, check_exposure, open_access
from weighbeam.app.service.apps import load_runs, log_overridden, make_app
from weighbeam.app.service.server import extend_validator_service
from weighbeam.app.settings.sources import LoadedSettings, explain_ignored
from weighbeam.app.shutdown import end_now, run_until_stopped
from weighbeam.app.tracing import export_traces
from weighbeam.app.validator.build import BuiltValidator, build_validator
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, Level
from weighbeam.engine.journal.access import count_entries
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import hash_weighing
from weighbeam.engine.running.chain_watch import ChainWatch, WatchLimits
from weighbeam.engine.running.observer import note_terms
from weighbeam.engine.running.runtime import Service, keep_running
from weighbeam.engine.running.standby import Standby
from weighbeam.engine.support.package_faults import call_or_log
from weighbeam.engine.support.process import freeze_memory
from weighbeam.network.http_server import check_listen, format_url
from weighbeam.network.http_server import listen as listen_on
from weighbeam.service.api.challenges import ChallengeContext, add_challenges
from weighbeam.service.http.metrics import count_validator, report_pulses
from weighbeam.service.http.threads import ThreadPools

SHORT_HASH = 12


def add_challenge_api(app: FastAPI, built: BuiltValidator, access: ApiAccess) -> None:
    """The API beside /health, where the mechanism is run: for tokens with the scope ask, and hotkeys named."""
    section = access.loaded.settings.challenges
    if not section.callers and section.mechanism not in {runner.name for runner in built.runners}:
        return
    played = find_challenge_runner(built, section.mechanism).round_context
    context = ChallengeContext(built.runtime.store, played.mechanism, played.params, built.runtime.clock.now)
    add_challenges(app, access.make_challenge_authenticator(), context, access.pools)


def pull_challenges(built: BuiltValidator, loaded: LoadedSettings) -> list[Service]:
    section = loaded.settings.challenges
    if section.pull is None:
        return []
    context = find_challenge_runner(built, section.mechanism).round_context
    return [partial(built.exchange.keep_pulling, context.mechanism, context.params, section.interval_seconds)]


def find_challenge_runner(built: BuiltValidator, mechanism: str) -> MechanismRunner:
    for runner in built.runners:
        if runner.name == mechanism:
            return runner
    told = f"challenges.mechanism is {mechanism!r}, which is not run here"
    raise WeighbeamError("bad_config", told, f"write [mechanisms.{mechanism}]")


def run_validator(loaded: LoadedSettings, standby: bool = False) -> None:
    """With `standby`, or if the settings say so, only once the validator before is gone."""
    built = build_validator(loaded)
    freeze_memory()
    log_start(built)
    turn = open_standby(built, loaded) if standby or loaded.settings.validator.standby else None
    try:
        watch = open_watch(built, loaded)
        with export_traces():
            asyncio.run(run_until_stopped(_run(built, loaded, [watch.keep_watching], partial(_begin, built, turn))))
    finally:
        built.runtime.store.close()
    LOG.info("stopped")


def open_standby(built: BuiltValidator, loaded: LoadedSettings) -> Standby:
    """`bad_config` if what the first signed could still be included after so few blocks."""
    contexts, blocks = [runner.weigh_in_context for runner in built.runners], loaded.settings.validator.standby_blocks
    least = max(context.chain.period for context in contexts) + 1
    if blocks < least:
        told = f"validator.standby_blocks is {blocks}: what was signed may be included for {least - 1} blocks"
        raise WeighbeamError("bad_config", told, f"set it to {least} or more")
    return Standby(built.runtime.lock, contexts, blocks)


async def _begin(built: BuiltValidator, turn: Standby | None) -> None:
    """Wait for our turn if we stand by; nothing is written before it."""
    if turn is not None:
        await turn.wait_for_turn()
    note_terms(built.runtime.store, built.runners)


async def _run(
    built: BuiltValidator, loaded: LoadedSettings, beside: Sequence[Service] = (), begin: Service | None = None
) -> None:
    """Everything is checked and made, then `begin` ends, then it runs."""
    services = list(beside)
    pools = ThreadPools()
    listen = loaded.settings.validator.listen
    if listen:
        check_exposure(loaded, built.runtime.store, time.time(), listen)
        app, refreshing = make_validator_app(built, loaded, listen, pools, CollectorRegistry())
        services += [*refreshing, partial(_serve_dashboard, app, *check_listen(listen))]
    elif loaded.settings.challenges.callers:
        raise WeighbeamError("bad_config", "challenges may be pushed, but validator.listen is empty", "set it")
    services += pull_challenges(built, loaded)
    try:
        if begin is not None:
            await begin()
        await keep_running(built.runtime, built.runners, services)
    except WeighbeamError as fault:
        if fault.code == "watchdog":
            end_now()
        raise
    finally:
        pools.close()


def open_watch(built: BuiltValidator, loaded: LoadedSettings) -> ChainWatch:
    """The watch of the chain, on a connection of its own."""
    section = loaded.settings.chain
    mechid = min(one.mechid for one in loaded.settings.mechanisms.values())
    chain = open_chain(loaded, open_hotkey(loaded), mechid, _log_quietly, section.stall_seconds)
    limits = WatchLimits(section.stall_seconds, section.max_clock_skew_seconds)
    return ChainWatch(chain, built.runtime.clock, built.runtime.alerts, limits)


def _log_quietly(code: str, level: Level, text: str) -> None:
    """The connections that set weights raise these alerts; here the same would be raised twice."""
    LOG.debug("%s (%s): %s", code, level, text)


async def _serve_dashboard(app: FastAPI, host: str, port: int) -> None:
    async with listen_on(app, host, port) as bound:
        LOG.info("dashboard: %s (with /health and /metrics)", format_url(*bound))
        await asyncio.Event().wait()


def make_validator_app(
    built: BuiltValidator, loaded: LoadedSettings, listen: str, pools: ThreadPools, registry: CollectorRegistry
) -> tuple[FastAPI, list[Service]]:
    """All that a validator serves on `listen`, and what keeps that current."""
    runtime = built.runtime
    count_validator(
        registry,
        runtime.health,
        runtime.alerts,
        runtime.store,
        [runner.weigh_in_context.mechanism for runner in built.runners],
    )
    access = open_access(loaded, runtime.store, runtime.hotkey, listen, pools)
    report = partial(report_pulses, runtime.health)
    app = make_app(access, runtime.store, open_hotkey(loaded), runtime.clock.now, registry, report, load_runs(loaded))
    add_challenge_api(app, built, access)
    return app, extend_validator_service(app, built, access, registry)


def log_start(built: BuiltValidator) -> None:
    """Log hotkey, mechanisms, journal, and environment variables that have no effect."""
    signer, own = built.runtime.hotkey, built.runtime.lock.name
    who = signer if signer == own else f"{own}, by its proxy {signer},"
    LOG.info("validator %s runs %s", who, ", ".join(runner.name for runner in built.runners))
    entries = count_entries(built.runtime.store)
    where = built.runtime.store.engine.url.render_as_string(hide_password=True)
    LOG.info("journal %s: %s", where, f"continues after entry {entries}" if entries else "new")
    for runner in built.runners:
        log_overridden(runner.name, runner.weigh_in_context.params)
        params = runner.weigh_in_context.params.model_dump(mode="json")
        digest = hash_weighing(runner.name, params, built.runtime.averaging)
        LOG.info("%s: weighing hash %s (parameters and weigh-in settings)", runner.name, digest[:SHORT_HASH])
        alert_unburnt(built.runtime.alerts, runner)
    alert_ignored(built.runtime.alerts)


def alert_unburnt(alerts: Alerts, runner: MechanismRunner) -> None:
    """Alert if a mechanism would burn a share and no hotkey is set to take it."""
    mechanism, params = runner.weigh_in_context.mechanism, runner.weigh_in_context.params
    share = call_or_log(mechanism, "burn_share", lambda: mechanism.burn_share(params), 0.0)
    if share > 0 and runner.weigh_in_context.burn_hotkey is None:
        alerts.tell(
            "no_burn_target",
            "warning",
            f"{share:.0%} would be burnt, but burn_hotkey is not set; miners get it",
            runner.name,
        )


def alert_ignored(alerts: Alerts) -> None:
    for name, reason in explain_ignored(os.environ).items():
        alerts.tell("env_ignored", "warning", f"{name} is {reason}")
