"""A server of the novelty API that lives until it is shot. Its embedder is tiny and the same in every life."""

import asyncio
import hashlib
import os
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import alembic.command
import alembic.config
import numpy as np
from numpy.typing import NDArray
from prometheus_client import CollectorRegistry

from service.holders import place
from weighbeam.core.quantise import unit_millionths
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.handlers import NoveltyApi
from weighbeam.mechanisms.novelty.service.routes import add_novelty
from weighbeam.network.http_server import ListenSettings, listen
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import BoundedThreadPool, ThreadPools
from weighbeam.store.database import Store

ALICE = Hotkey.from_uri("//Alice")
DIMENSIONS = 24
LOADED = (alembic.command, alembic.config)
"""What a start imports when it needs it; a life begins sooner with it there."""


class WordBag:
    """Texts that share words are near each other; no model is loaded."""

    id, digest, dimensions, window, unknown = "word-bag", "0" * 64, DIMENSIONS, 512, -1

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return unit_millionths(np.array([sum(map(spread, text.split())) for text in texts]))

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        return [[hash_word(word) for word in text.split()] for text in texts]


def hash_word(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")


def spread(word: str) -> NDArray[np.float64]:
    return np.frombuffer(hashlib.sha256(word.encode()).digest()[:DIMENSIONS], np.uint8) - 127.5


def open_worker_desk(folder: Path, real: bool) -> NoveltyDesk:
    bag = WordBag()
    senses: Any = LocalSenses(workers=1) if real else SimpleNamespace(embedder=bag, word_pieces=bag)
    params = NoveltyParams(entailment=real)
    return open_desk(Store(f"sqlite:///{folder / 'novelty.db'}"), senses, ALICE, params)


def live(folder: Path, said: Connection, real: bool) -> None:
    """One life: says its port once it serves."""
    desk, pools, registry = (
        open_worker_desk(folder, real),
        ThreadPools(BoundedThreadPool(), BoundedThreadPool(1)),
        CollectorRegistry(),
    )
    desk.load()
    app = make_service_app(pools.submissions, registry)
    place(desk.store, "app", ("admin",))
    gate = Authenticator(ALICE.address, TokenKeyring(desk.store), RateLimits(), 6e6)
    add_novelty(app, gate, NoveltyApi(desk, time.time), pools, registry)

    async def serve() -> None:
        async with listen(app, "127.0.0.1", 0, ListenSettings(per_address=1000)) as (_, port):
            said.send(port)
            while os.getppid() > 1:
                await asyncio.sleep(0.5)

    asyncio.run(serve())
