"""Open a validator to challenges, as far as its settings say so."""

from functools import partial

from fastapi import FastAPI

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.keep_running import Service
from weighbeam.engine.validator import Post
from weighbeam.network.keys import is_address
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.operate.build import Built
from weighbeam.operate.tokens import read_plain
from weighbeam.service.challenges import Counter, add_challenges
from weighbeam.service.gate import Gate
from weighbeam.settings.load import Loaded


def open_door(app: FastAPI, built: Built, loaded: Loaded) -> None:
    """The API beside /health; nobody may push unless a token or a hotkey is named."""
    section = loaded.settings.challenges
    if not is_open(loaded):
        return
    tokens = read_plain(loaded.path(section.tokens_file)) if section.tokens_file else {}
    post = find_post(built, section.mechanism)
    for caller in section.callers:
        if not is_address(caller):
            raise WeighbeamError("bad_config", f"challenges.callers: {caller!r} is no hotkey", "write ss58 addresses")
    allowed = frozenset(section.callers) | {f"token:{name}" for name in tokens.values()}
    policy = Policy(PolicySettings(allow=allowed, per_minute=section.per_minute))
    gate = Gate(built.desk.hotkey, tokens, policy, NonceStore(loaded.path(section.nonces)))
    add_challenges(app, gate, Counter(built.desk.store, post.bench.mechanism, post.bench.params, built.desk.clock.now))


def is_open(loaded: Loaded) -> bool:
    """Whether anybody may push."""
    section = loaded.settings.challenges
    return section.tokens_file is not None or bool(section.callers)


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
