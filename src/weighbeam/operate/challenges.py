"""Open a validator to challenges, as far as its settings say so."""

from functools import partial

from fastapi import FastAPI

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.keep_running import Service
from weighbeam.engine.validator import Post
from weighbeam.operate.build import Built
from weighbeam.operate.gates import Entrance
from weighbeam.service.challenges import Counter, add_challenges
from weighbeam.settings.load import Loaded


def open_door(app: FastAPI, built: Built, entrance: Entrance) -> None:
    """The API beside /health, where the mechanism is run: for tokens with the scope ask, and hotkeys named."""
    section = entrance.loaded.settings.challenges
    if not section.callers and section.mechanism not in {post.name for post in built.posts}:
        return
    bench = find_post(built, section.mechanism).bench
    counter = Counter(built.desk.store, bench.mechanism, bench.params, built.desk.clock.now)
    add_challenges(app, entrance.make_challenge_gate(), counter, entrance.pools)


def pull_challenges(built: Built, loaded: Loaded) -> list[Service]:
    section = loaded.settings.challenges
    if section.pull is None:
        return []
    bench = find_post(built, section.mechanism).bench
    return [partial(built.exchange.keep_pulling, bench.mechanism, bench.params, section.interval_seconds)]


def find_post(built: Built, mechanism: str) -> Post:
    for post in built.posts:
        if post.name == mechanism:
            return post
    told = f"challenges.mechanism is {mechanism!r}, which is not run here"
    raise WeighbeamError("bad_config", told, f"write [mechanisms.{mechanism}]")
