"""Open the novelty API as settings say: on its own with `weighbeam serve`, or beside a validator's /health."""

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
from weighbeam.mechanisms.contract import make_params
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey, is_address
from weighbeam.network.listen import ListenSettings, check_listen, listen
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.novelty.desk import Desk, open_desk
from weighbeam.novelty.ledger import Limits
from weighbeam.operate.build import Built, open_store
from weighbeam.operate.follow import keep_policy
from weighbeam.operate.identity import open_hotkey
from weighbeam.operate.stop import run_until_stopped
from weighbeam.operate.tokens import Tokens, read_scoped
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports import Senses
from weighbeam.service.app import make_service_app
from weighbeam.service.count_backlog import Backlog
from weighbeam.service.gate import Gate
from weighbeam.service.novelty import Pools, add_novelty
from weighbeam.service.pool import Pool
from weighbeam.service.teller import Teller
from weighbeam.settings.load import Loaded
from weighbeam.store.database import Store

PER_SIGNER = 2
LEAST_BURST = 10
NOBODY = Tokens({}, {})


def run_service(loaded: Loaded) -> None:
    """Serve until SIGTERM or SIGINT: calls under way are finished; what was acknowledged is on disk."""
    hotkey, where = open_hotkey(loaded), check_listen(loaded.settings.service.listen)
    section = loaded.settings.novelty
    if section.tokens_file is None and not section.callers:
        told = "nobody may call: neither novelty.tokens_file nor novelty.callers is set"
        raise WeighbeamError("bad_config", told, "see docs/novelty-api.md")
    store, pools, registry = open_store(loaded), open_pools(), CollectorRegistry()
    registry.register(Backlog(store))
    try:
        desk = open_settings_desk(loaded, store, LocalSenses(loaded.settings.validator.embedder), hotkey, time.time)
        app = make_service_app(pools.desk, registry)
        gate, scopes = make_gate(loaded, hotkey.address, pools)
        add_novelty(app, gate, Teller(desk, scopes, time.time), pools, registry)
        LOG.info("corpus of %d pieces loaded", desk.load())
        asyncio.run(run_until_stopped(_serve(app, where, loaded.settings.service.connections)))
    finally:
        pools.close()
        store.close()
    LOG.info("stopped")


def open_beside(app: FastAPI, built: Built, loaded: Loaded, pools: Pools, registry: CollectorRegistry) -> list[Service]:
    """The API of a validator that runs novelty: whoever is registered may sign. Gives what keeps that current."""
    post = next((post for post in built.posts if post.name == Novelty.name), None)
    if post is None:
        return []
    hotkey, clock = open_hotkey(loaded), built.desk.clock
    desk = open_settings_desk(loaded, built.desk.store, post.bench.senses, hotkey, clock.now)
    gate, scopes = make_gate(loaded, hotkey.address, pools)
    add_novelty(app, gate, Teller(desk, scopes, clock.now), pools, registry)
    LOG.info("novelty: corpus of %d pieces loaded", desk.load())
    return [partial(keep_policy, post.scale.chain, clock, gate.find_policy(hotkey.address))]


def open_settings_desk(loaded: Loaded, store: Store, senses: Senses, hotkey: Hotkey, now: Callable[[], float]) -> Desk:
    section = loaded.settings.mechanisms.get(Novelty.name)
    params = make_params(Novelty(), section.params if section else {})
    assert isinstance(params, NoveltyParams)
    return open_desk(store, senses, hotkey, params, read_limits(loaded, params), loaded.settings.novelty.scan, now)


def read_limits(loaded: Loaded, params: NoveltyParams) -> Limits:
    """The limits in units, exactly as they are written in tokens."""
    section = loaded.settings.novelty
    return Limits(
        to_units("day_limit", section.day_limit, params.base_units),
        to_units("contributor_day_limit", section.contributor_day_limit, params.base_units),
    )


def to_units(name: str, tokens: Decimal | None, base_units: int) -> int | None:
    """
    >>> to_units("day_limit", Decimal("0.3"), 1_000_000_000)
    300000000
    """
    if tokens is None:
        return None
    units = Fraction(tokens) * base_units
    if units.denominator != 1:
        told = f"novelty.{name} is {tokens} tokens of {base_units} units"
        raise WeighbeamError("bad_config", told, "give a whole number of units")
    return units.numerator


def open_pools() -> Pools:
    return Pools(Pool(), Pool(workers=2))


def make_gate(loaded: Loaded, own_address: str, pools: Pools) -> tuple[Gate, dict[str, frozenset[str]]]:
    """Tokens may use the whole pool, each hotkey a few places of it."""
    section = loaded.settings.novelty
    for caller in section.callers:
        if not is_address(caller):
            raise WeighbeamError("bad_config", f"novelty.callers: {caller!r} is no hotkey", "write ss58 addresses")
    tokens = read_scoped(loaded.path(section.tokens_file)) if section.tokens_file else NOBODY
    most, pace = pools.desk.most, section.per_minute
    named = PolicySettings(
        allow=frozenset(tokens.scopes),
        per_minute=pace,
        burst=max(LEAST_BURST, round(pace / 6)),
        per_sender=most + 1,
        max_tasks=2 * most,
    )
    signing = PolicySettings(
        allow=frozenset(section.callers),
        require_permit=False,
        per_minute=pace,
        per_sender=PER_SIGNER,
        max_tasks=most,
    )
    nonces = NonceStore(loaded.path(section.nonces))
    return Gate(own_address, tokens.names, Policy(named), nonces, Policy(signing)), dict(tokens.scopes)


async def _serve(app: FastAPI, where: tuple[str, int], connections: int) -> None:
    async with listen(app, *where, ListenSettings(per_address=connections)) as (host, port):
        LOG.info("novelty is served on %s:%d", host, port)
        await asyncio.Event().wait()
