"""The demo's novelty desks: one per validator, reached by miners over HTTP; honest miners contribute first."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import MINERS, DemoNeuron
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.miners.contributors import contribute, count_turns
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.client import send_contribution
from weighbeam.mechanisms.novelty.service.handlers import SIGNER, NoveltyApi
from weighbeam.mechanisms.novelty.service.routes import add_novelty
from weighbeam.network.http_server import listen
from weighbeam.network.nonces import SKEW_SECONDS, NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import AllowedSigners, Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools

DeskAddresses = Mapping[str, str]
"""A validator's hotkey → where its desk is."""


@asynccontextmanager
async def open_desks(
    runners: Sequence[MechanismRunner], names: Mapping[str, DemoNeuron]
) -> AsyncIterator[DeskAddresses]:
    """Every validator's desk behind the novelty API, on an address of its own, until the end."""
    async with AsyncExitStack() as stack:
        found: dict[str, str] = {}
        for number, runner in enumerate(runners, 1):
            pools = ThreadPools()
            stack.callback(pools.close)
            app = _make_app(runner, names[runner.weigh_in_context.own_hotkey], pools)
            host, port = await stack.enter_async_context(listen(app, f"127.0.2.{number}"))
            found[runner.weigh_in_context.own_hotkey] = f"http://{host}:{port}"
        await asyncio.sleep(SKEW_SECONDS)
        yield found


async def contribute_all(doors: DeskAddresses, turn: int) -> None:
    """One contribution of every miner to every desk; who has nothing left to say is silent."""
    if turn < count_turns():
        await asyncio.gather(*(asyncio.to_thread(_speak, node, url, turn) for node, url in doors.items()))


def _speak(node: str, url: str, turn: int) -> None:
    """One after the other: who repeats something comes after who said it."""
    for part in MINERS:
        try:
            send_contribution(url, node, part.hotkey, contribute(part.acts["novelty"].answers, turn))
        except WeighbeamError as refusal:
            if refusal.code == "call_failed":
                raise


def _make_app(runner: MechanismRunner, part: DemoNeuron, pools: ThreadPools) -> FastAPI:
    store, params, registry = runner.round_context.journal.store, runner.round_context.params, CollectorRegistry()
    assert isinstance(params, NoveltyParams)
    desk = open_desk(store, runner.round_context.senses, part.hotkey, params, now=runner.clock.now)
    callers = PolicySettings(allow=frozenset(miner.hotkey.address for miner in MINERS), per_minute=600, burst=20)
    database = store.engine.url.database
    signers = AllowedSigners(SenderPolicy(callers), NonceStore(Path(f"{database}-nonces")), SIGNER)
    authenticator = Authenticator(part.hotkey.address, TokenKeyring(store), RateLimits(), signers=signers)
    app = make_service_app(pools.submissions, registry)
    add_novelty(app, authenticator, NoveltyApi(desk, runner.clock.now), pools, registry)
    return app
