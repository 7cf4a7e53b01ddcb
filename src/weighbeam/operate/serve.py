"""Open the APIs as settings say: on their own with `weighbeam serve`, or beside a validator's /health."""

import asyncio
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG
from weighbeam.engine.keep_running import Service
from weighbeam.engine.settle import settle_memory
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.network.listen import ListenSettings, check_listen, listen
from weighbeam.novelty.desk import Desk, open_desk
from weighbeam.novelty.ledger import Limits
from weighbeam.operate.build import Built, open_store
from weighbeam.operate.compose import find_clock, make_app
from weighbeam.operate.follow import keep_policy
from weighbeam.operate.gates import Entrance, check_reached, open_entrance
from weighbeam.operate.identity import open_hotkey
from weighbeam.operate.node_key import open_node_key
from weighbeam.operate.novelty import find_key_file
from weighbeam.operate.reading import load_runs
from weighbeam.operate.stop import run_until_stopped
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports import Senses
from weighbeam.service.app import report_health
from weighbeam.service.health import count_store
from weighbeam.service.novelty import add_novelty
from weighbeam.service.pages.prepare import prepare_pages
from weighbeam.service.pool import Pools
from weighbeam.service.teller import Teller
from weighbeam.settings.load import Loaded
from weighbeam.store.database import Store


def run_service(loaded: Loaded) -> None:
    """Serve until SIGTERM or SIGINT: calls under way are finished; what was acknowledged is on disk."""
    hotkey, section = open_signer(loaded), loaded.settings.service
    where = check_listen(section.listen)
    store, pools = open_store(loaded), Pools()
    try:
        check_reached(loaded, store, time.time())
        entrance = open_entrance(loaded, store, hotkey.address, section.listen, pools)
        app = make_own_app(entrance, store, hotkey)
        asyncio.run(run_until_stopped(_serve(app, where, section.connections)))
    finally:
        pools.close()
        store.close()
    LOG.info("stopped")


def open_signer(loaded: Loaded) -> Hotkey:
    """Who signs receipts: the wallet's hotkey, or the node's own key beside the store where no wallet is named."""
    wallet = loaded.settings.wallet
    if wallet.uri is None and wallet.file is None and wallet.name is None:
        return open_node_key(find_key_file(loaded.store_url()))
    return open_hotkey(loaded)


def make_own_app(entrance: Entrance, store: Store, hotkey: Hotkey) -> FastAPI:
    """All that `weighbeam serve` serves: contributions are taken in here, whether novelty is run or not."""
    loaded, registry = entrance.loaded, CollectorRegistry()
    senses = LocalSenses(loaded.settings.validator.embedder)
    desk = open_settings_desk(loaded, store, senses, hotkey, time.time)
    runs = {**load_runs(loaded), Novelty.name: (Novelty(), desk.params)}
    count_store(registry, store, [mechanism for mechanism, _ in runs.values()])
    report = partial(report_health, entrance.pools.desk)
    app = make_app(entrance, store, hotkey, find_clock(loaded), registry, report, runs)
    add_novelty(app, entrance.make_novelty_gate(), Teller(desk, time.time), entrance.pools, registry)
    LOG.info("corpus of %d pieces loaded", desk.load())
    return app


def open_beside(app: FastAPI, built: Built, entrance: Entrance, registry: CollectorRegistry) -> list[Service]:
    """The API of a validator that runs novelty: whoever is registered may sign. Gives what keeps that current."""
    post = next((post for post in built.posts if post.name == Novelty.name), None)
    if post is None:
        return []
    hotkey, clock = open_hotkey(entrance.loaded), built.desk.clock
    desk = open_settings_desk(entrance.loaded, built.desk.store, post.bench.senses, hotkey, clock.now)
    gate = entrance.make_novelty_gate()
    assert gate.signers is not None
    add_novelty(app, gate, Teller(desk, clock.now), entrance.pools, registry)
    LOG.info("novelty: corpus of %d pieces loaded", desk.load())
    return [partial(keep_policy, post.scale.chain, clock, gate.signers.policy)]


def open_settings_desk(loaded: Loaded, store: Store, senses: Senses, hotkey: Hotkey, now: Callable[[], float]) -> Desk:
    section = loaded.settings.mechanisms.get(Novelty.name)
    params = make_params(Novelty(), section.params if section else {})
    assert isinstance(params, NoveltyParams)
    return open_desk(store, senses, hotkey, params, read_limits(loaded, params), loaded.settings.novelty.scan, now)


def read_limits(loaded: Loaded, params: NoveltyParams) -> Limits:
    """The limits in units, exactly as they are written in tokens."""
    section = loaded.settings.novelty
    return Limits(
        to_units("novelty.day_limit", section.day_limit, params.base_units),
        to_units("novelty.contributor_day_limit", section.contributor_day_limit, params.base_units),
    )


def to_units(name: str, tokens: Decimal | None, base_units: int) -> int | None:
    """
    >>> to_units("--per-day", Decimal("0.3"), 1_000_000_000)
    300000000
    """
    if tokens is None:
        return None
    units = Fraction(tokens) * base_units
    if units.denominator != 1:
        told = f"{name} is {tokens} tokens of {base_units} units"
        raise WeighbeamError("bad_config", told, "give a whole number of units")
    return units.numerator


async def _serve(app: FastAPI, where: tuple[str, int], connections: int) -> None:
    async with listen(app, *where, ListenSettings(per_address=connections)) as (host, port):
        LOG.info("served on %s:%d", host, port)
        await asyncio.to_thread(prepare_pages)
        settle_memory()
        await asyncio.Event().wait()
