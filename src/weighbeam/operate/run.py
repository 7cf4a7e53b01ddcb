"""Run a validator until it is told to stop."""

import asyncio
import os
import time
from functools import partial

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG, Alerts
from weighbeam.engine.keep_running import Service, keep_running
from weighbeam.engine.read_journal import count_entries
from weighbeam.engine.settle import settle_memory
from weighbeam.engine.terms import note_terms
from weighbeam.engine.validator import Post
from weighbeam.engine.weigh_in.constants import find_ignored, hash_weighing
from weighbeam.mechanisms.abilities import Burns
from weighbeam.network.listen import check_listen, serve_miner
from weighbeam.operate.build import Built, build_validator
from weighbeam.operate.challenges import open_door, pull_challenges
from weighbeam.operate.compose import make_app
from weighbeam.operate.gates import check_reached, open_entrance
from weighbeam.operate.identity import open_hotkey
from weighbeam.operate.reading import load_runs
from weighbeam.operate.serve import open_beside
from weighbeam.operate.stop import end_now, run_until_stopped
from weighbeam.service.health import count_validator, report_pulses
from weighbeam.service.pool import Pools
from weighbeam.settings.load import Loaded, find_unknown


def run_validator(loaded: Loaded) -> None:
    built = build_validator(loaded)
    settle_memory()
    tell_start(built)
    note_terms(built.desk.store, built.posts)
    try:
        asyncio.run(run_until_stopped(_run(built, loaded)))
    finally:
        built.desk.store.close()
    LOG.info("stopped")


async def _run(built: Built, loaded: Loaded) -> None:
    services: list[Service] = []
    pools = Pools()
    listen = loaded.settings.validator.listen
    if listen:
        check_reached(loaded, built.desk.store, time.time(), listen)
        app, beside = make_validator_app(built, loaded, listen, pools, CollectorRegistry())
        services += [*beside, partial(serve_miner, app, *check_listen(listen))]
    elif loaded.settings.challenges.callers:
        raise WeighbeamError("bad_config", "challenges may be pushed, but validator.listen is empty", "set it")
    services += pull_challenges(built, loaded)
    try:
        await keep_running(built.desk, built.posts, services)
    except WeighbeamError as fault:
        if fault.code == "watchdog":
            end_now()
        raise
    finally:
        pools.close()


def make_validator_app(
    built: Built, loaded: Loaded, listen: str, pools: Pools, registry: CollectorRegistry
) -> tuple[FastAPI, list[Service]]:
    """All that a validator serves on `listen`, and what keeps that current."""
    desk = built.desk
    count_validator(registry, desk.health, desk.alerts, desk.store, [post.scale.mechanism for post in built.posts])
    entrance = open_entrance(loaded, desk.store, desk.hotkey, listen, pools)
    report = partial(report_pulses, desk.health)
    app = make_app(entrance, desk.store, open_hotkey(loaded), desk.clock.now, registry, report, load_runs(loaded))
    open_door(app, built, entrance)
    return app, open_beside(app, built, entrance, registry)


def tell_start(built: Built) -> None:
    """Who runs what, on which journal, and what in the environment changes nothing."""
    LOG.info("validator %s, mechanisms %s", built.desk.hotkey, ", ".join(post.name for post in built.posts))
    entries = count_entries(built.desk.store)
    where = built.desk.store.engine.url.render_as_string(hide_password=True)
    LOG.info("journal %s: %s", where, f"up to entry {entries}" if entries else "new")
    for post in built.posts:
        params = post.scale.params.model_dump(mode="json")
        LOG.info("%s: weights are made under %s", post.name, hash_weighing(post.name, params, built.desk.averaging))
        tell_unburnt(built.desk.alerts, post)
    tell_ignored(built.desk.alerts)


def tell_unburnt(alerts: Alerts, post: Post) -> None:
    """A mechanism that would burn a share and is told of nobody to take it."""
    share = getattr(post.scale.params, "burn_share", 0.0)
    if isinstance(post.scale.mechanism, Burns) and share > 0 and post.scale.burn_hotkey is None:
        alerts.tell("no_burn_target", "warning", f"{share:.0%} would be burnt; miners get it", post.name)


def tell_ignored(alerts: Alerts) -> None:
    for name in find_ignored(os.environ):
        text = f"{name} is set but ignored: network constants are not configurable by environment"
        alerts.tell("env_ignored", "warning", text)
    for name in set(find_unknown(os.environ)) - set(find_ignored(os.environ)):
        alerts.tell("env_ignored", "warning", f"{name} is set but names no setting")
