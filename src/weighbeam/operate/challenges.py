"""Open a validator to challenges, as far as its settings say so."""

import re
from functools import partial

from fastapi import FastAPI

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.keep_running import Service
from weighbeam.engine.read_json import read_text
from weighbeam.engine.validator import Post
from weighbeam.network.keys import is_address
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.operate.build import Built
from weighbeam.service.challenges import Counter, Gate, add_challenges
from weighbeam.settings.load import Loaded

MOST_TOKENS = 1 << 20
LINE = re.compile(r"(\S{1,64})\s+([0-9a-f]{64})")


def open_door(app: FastAPI, built: Built, loaded: Loaded) -> None:
    """The API beside /health; nobody may push unless a token or a hotkey is named."""
    section = loaded.settings.challenges
    if not is_open(loaded):
        return
    tokens = read_tokens(loaded)
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


def read_tokens(loaded: Loaded) -> dict[str, str]:
    """SHA-256 of each token → the name of whoever holds it."""
    file = loaded.settings.challenges.tokens_file
    if file is None:
        return {}
    tokens: dict[str, str] = {}
    for number, line in enumerate(read_text(loaded.path(file), MOST_TOKENS).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        read = LINE.fullmatch(line.strip())
        if read is None:
            remedy = "write NAME and the SHA-256 of the token: printf %s TOKEN | sha256sum"
            raise WeighbeamError("bad_config", f"{file}, line {number}, is no token", remedy)
        tokens[read[2]] = read[1]
    return tokens
