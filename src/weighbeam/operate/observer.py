"""Run an observer beside a validator until it is told to stop."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG
from weighbeam.engine.keep_observing import Lookout, keep_observing
from weighbeam.engine.observers import open_seat
from weighbeam.engine.settle import settle_memory
from weighbeam.engine.terms import check_terms
from weighbeam.engine.validator import Post
from weighbeam.operate.build import Built, build_validator
from weighbeam.operate.stop import end_now, run_until_stopped
from weighbeam.settings.load import Loaded

READ_PAGES = frozenset({"evidence"})


def run_observer(loaded: Loaded) -> None:
    """With the validator's own settings: the same store, hotkey, chain and mechanisms."""
    built = build_validator(loaded)
    posts = [_widen(post, loaded) for post in built.posts if post.collector is None]
    if not posts:
        raise WeighbeamError("bad_config", "no mechanism here asks miners", "observers are for those that do")
    check_terms(built.desk.store, posts)
    settle_memory()
    lookout = _look_out(built, loaded)
    LOG.info("observer %s of validator %s, mechanisms %s", lookout.seat.name, built.desk.hotkey, _name(posts))
    try:
        asyncio.run(run_until_stopped(_run(lookout, posts)))
    finally:
        built.desk.store.close()
    LOG.info("stopped")


async def _run(lookout: Lookout, posts: list[Post]) -> None:
    try:
        await keep_observing(lookout, posts)
    except WeighbeamError as fault:
        if fault.code == "watchdog":
            end_now()
        raise


def _look_out(built: Built, loaded: Loaded) -> Lookout:
    desk, validator = built.desk, loaded.settings.validator
    own = validator.rounds == "observers"
    return Lookout(
        desk.store,
        desk.clock,
        desk.alerts,
        desk.health,
        open_seat(desk.store),
        own,
        validator.observer_rounds,
        desk.known.refresh,
    )


def _widen(post: Post, loaded: Loaded) -> Post:
    """Rounds are asked side by side, and observed side by side too; not those that read pages: they would wait for each
    other at a host that is asked gently, and a page that is late for that would be its miner's fault."""
    bench = post.bench
    if bench.mechanism.name in READ_PAGES:
        return post
    threads = ThreadPoolExecutor(loaded.settings.validator.observer_rounds, "observe")
    return replace(post, bench=replace(bench, observers=threads))


def _name(posts: list[Post]) -> str:
    return ", ".join(post.name for post in posts)
