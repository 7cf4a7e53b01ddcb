"""The demo's novelty: each validator keeps a desk that miners reach over HTTP; the honest speak first."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import MINERS, Part
from weighbeam.engine.validator import Post
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.miners.novelty import contribute, count_turns
from weighbeam.network.listen import listen
from weighbeam.network.nonces import SKEW_SECONDS, NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.novelty.desk import open_desk
from weighbeam.novelty.hand_in import hand_in
from weighbeam.service.app import make_service_app
from weighbeam.service.gate import Gate, Signers
from weighbeam.service.keyring import Keyring
from weighbeam.service.novelty import add_novelty
from weighbeam.service.paces import Paces
from weighbeam.service.pool import Pools
from weighbeam.service.teller import SIGNER, Teller

Doors = Mapping[str, str]
"""A validator's hotkey → where its desk is."""


@asynccontextmanager
async def open_doors(posts: Sequence[Post], names: Mapping[str, Part]) -> AsyncIterator[Doors]:
    """Every validator's desk behind the novelty API, on an address of its own, until the end."""
    async with AsyncExitStack() as stack:
        found: dict[str, str] = {}
        for number, post in enumerate(posts, 1):
            pools = Pools()
            stack.callback(pools.close)
            app = _make_app(post, names[post.scale.own_hotkey], pools)
            host, port = await stack.enter_async_context(listen(app, f"127.0.2.{number}"))
            found[post.scale.own_hotkey] = f"http://{host}:{port}"
        await asyncio.sleep(SKEW_SECONDS)
        yield found


async def contribute_all(doors: Doors, turn: int) -> None:
    """One contribution of every miner to every desk; who has nothing left to say is silent."""
    if turn < count_turns():
        await asyncio.gather(*(asyncio.to_thread(_speak, node, url, turn) for node, url in doors.items()))


def _speak(node: str, url: str, turn: int) -> None:
    """One after the other: who repeats something comes after who said it."""
    for part in MINERS:
        try:
            hand_in(url, node, part.hotkey, contribute(part.acts["novelty"].answers, turn))
        except WeighbeamError as refusal:
            if refusal.code == "call_failed":
                raise


def _make_app(post: Post, part: Part, pools: Pools) -> FastAPI:
    store, params, registry = post.bench.journal.store, post.bench.params, CollectorRegistry()
    assert isinstance(params, NoveltyParams)
    desk = open_desk(store, post.bench.senses, part.hotkey, params, now=post.clock.now)
    callers = PolicySettings(allow=frozenset(miner.hotkey.address for miner in MINERS), per_minute=600, burst=20)
    database = store.engine.url.database
    signers = Signers(Policy(callers), NonceStore(Path(f"{database}-nonces")), SIGNER)
    gate = Gate(part.hotkey.address, Keyring(store), Paces(), signers=signers)
    app = make_service_app(pools.desk, registry)
    add_novelty(app, gate, Teller(desk, post.clock.now), pools, registry)
    return app
