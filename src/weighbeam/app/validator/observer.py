"""Run an observer beside a validator until it is stopped."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.app.shutdown import end_now, run_until_stopped
from weighbeam.app.validator.build import BuiltValidator, build_validator
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.observer import ObserverRuntime, check_terms, keep_observing
from weighbeam.engine.support.observers import open_seat
from weighbeam.engine.support.process import freeze_memory


def run_observer(loaded: LoadedSettings) -> None:
    """With the validator's own settings: the same store, hotkey, chain and mechanisms."""
    built = build_validator(loaded)
    posts = [_widen(post, loaded) for post in built.posts if post.collector is None]
    if not posts:
        raise WeighbeamError("bad_config", "no mechanism here asks miners", "observers are for those that do")
    check_terms(built.desk.store, posts)
    freeze_memory()
    lookout = _look_out(built, loaded)
    LOG.info("observer %s of validator %s, mechanisms %s", lookout.seat.name, built.desk.hotkey, _name(posts))
    try:
        asyncio.run(run_until_stopped(_run(lookout, posts)))
    finally:
        built.desk.store.close()
    LOG.info("stopped")


async def _run(lookout: ObserverRuntime, posts: list[MechanismRunner]) -> None:
    try:
        await keep_observing(lookout, posts)
    except WeighbeamError as fault:
        if fault.code == "watchdog":
            end_now()
        raise


def _look_out(built: BuiltValidator, loaded: LoadedSettings) -> ObserverRuntime:
    desk, validator = built.desk, loaded.settings.validator
    own = validator.rounds == "observers"
    return ObserverRuntime(
        desk.store,
        desk.clock,
        desk.alerts,
        desk.health,
        open_seat(desk.store),
        own,
        validator.observer_rounds,
        desk.known.refresh,
    )


def _widen(post: MechanismRunner, loaded: LoadedSettings) -> MechanismRunner:
    """Rounds are asked side by side, and observed side by side too; not those that read pages: they would wait for each
    other at a host that is asked gently, and a page that is late for that would be its miner's fault."""
    bench = post.bench
    if bench.mechanism.reads_pages:
        return post
    threads = ThreadPoolExecutor(loaded.settings.validator.observer_rounds, "observe")
    return replace(post, bench=replace(bench, observers=threads))


def _name(posts: list[MechanismRunner]) -> str:
    return ", ".join(post.name for post in posts)
