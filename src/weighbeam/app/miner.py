"""Run a miner: serve answers, announce the address, follow the metagraph."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from weighbeam.app.chains import find_own_hotkey, keep_policy, open_chain, open_clock, refresh_policy
from weighbeam.app.identity import open_hotkey
from weighbeam.app.settings.sources import LoadedSettings, check_role
from weighbeam.app.shutdown import run_until_stopped
from weighbeam.chain.contract import Chain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, log_fault
from weighbeam.engine.support.clock import EngineClock
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.miners.custom import REMEDY, load_custom_handler
from weighbeam.miners.spoilers import App, spoil_replies
from weighbeam.network.address import resolve_endpoint
from weighbeam.network.http_server import check_listen, listen
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import Handler, ServedRequest, make_miner_app
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.senses.local import LocalSenses

EVERYWHERE = ("0.0.0.0", "::")
ANNOUNCED_SECONDS, RETRY_SECONDS = 3600.0, 300.0
MIN_AT_ONCE = 4
"""Of one sender: a validator asks for all its mechanisms at once, also for those that are not answered here."""


def run_miner(loaded: LoadedSettings) -> None:
    check_role(loaded, "miner")
    asyncio.run(run_until_stopped(serve_settings(loaded)))
    LOG.info("stopped")


async def serve_settings(loaded: LoadedSettings, ready: Callable[[str], None] = lambda _: None) -> None:
    """Serve until cancelled; `ready` receives the address."""
    section, hotkey = loaded.settings.miner, open_hotkey(loaded)
    chain, clock = open_chain(loaded, hotkey, 0), open_clock(loaded)
    policy = SenderPolicy(
        PolicySettings(
            allow=frozenset(section.allow),
            deny=frozenset(section.deny),
            require_permit=section.require_permit,
            min_stake_rao=section.min_stake_rao,
            per_minute=section.per_minute,
            per_sender=max(MIN_AT_ONCE, len(section.answers) + 1),
            max_tasks=section.max_tasks,
        )
    )
    nonces = NonceStore(loaded.path(section.nonces))
    app = make_app(hotkey, section.answers, nonces, policy, LocalSenses(), _log, loaded.folder)
    await refresh_policy(chain, policy)
    async with listen(app, *check_listen(section.listen)) as (host, port):
        where = section.announce or f"{host}:{port}"
        if host in EVERYWHERE and section.announce is None:
            raise WeighbeamError("bad_config", f"{where} is not an address that can be announced", "set miner.announce")
        own = find_own_hotkey(loaded, hotkey)
        if loaded.settings.chain.kind == "local":
            await chain.announce(where)
        else:
            await announce_once(chain, own, where)
        served = ", ".join(section.answers)
        LOG.info("miner %s serves %s on %s:%d, announced as %s", hotkey.address, served, host, port, where)
        ready(where)
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_policy(chain, clock, policy))
            group.create_task(keep_announced(chain, clock, own, where))


async def keep_announced(chain: Chain, clock: EngineClock, own: str, where: str) -> None:
    """Look once an hour whether the chain names our address: a new registration forgets it."""
    wait = ANNOUNCED_SECONDS
    while True:
        await clock.sleep(wait)
        wait = ANNOUNCED_SECONDS if await announce_once(chain, own, where) else RETRY_SECONDS


async def announce_once(chain: Chain, own: str, where: str) -> bool:
    """Announce our address unless the chain names it already; a failure is logged, and tried again later.

    The chain keeps an IP address, so a name is resolved first.
    """
    try:
        address = (await resolve_endpoint(where, allow_private=True)).url.partition("://")[2]
        neuron = (await chain.metagraph()).find(own)
        if neuron is None:
            raise WeighbeamError("not_registered", f"{own} is not registered", "register it, then start the miner")
        if neuron.endpoint != address:
            await chain.announce(address)
            LOG.info("%s is announced on the chain", address)
    except WeighbeamError as fault:
        log_fault(fault)
        return False
    return True


def make_app(
    hotkey: Hotkey,
    answers: Mapping[str, str],
    nonces: NonceStore,
    policy: SenderPolicy,
    senses: LocalSenses,
    log: Callable[[ServedRequest], None] = lambda _: None,
    folder: Path = Path(),
) -> App:
    """A miner by what it answers in each mechanism; a trick of its replies spoils those of its mechanism alone."""
    handlers = {mechanism: load_handler(mechanism, name, senses, folder) for mechanism, name in answers.items()}
    answered = {mechanism: load_mechanism(mechanism) for mechanism in answers}
    max_bytes = {name: mechanism.max_request_bytes for name, mechanism in answered.items()}
    max_nodes = {name: mechanism.max_request_nodes for name, mechanism in answered.items()}
    app: App = make_miner_app(hotkey, handlers, nonces, policy, log, max_bytes=max_bytes, max_nodes=max_nodes)
    for mechanism, answer in answers.items():
        kind, _, trick = answer.partition(":")
        app = spoil_replies(trick, app, mechanism) if kind == "hostile" else app
    return app


def load_handler(mechanism: str, name: str, senses: LocalSenses, folder: Path) -> Handler:
    """A reference miner by name, or a function of the user's own."""
    known: Handler | None = load_mechanism(mechanism).miner(name, senses)
    if known is not None:
        return known
    if ":" in name:
        return load_custom_handler(name, folder)
    raise WeighbeamError("bad_config", f"there is no reference miner {name!r} for {mechanism}", REMEDY)


def _log(served: ServedRequest) -> None:
    asked = f"{served.mechanism or 'request'}{f' round {served.round}' if served.round else ''}"
    sender, outcome = served.sender or "unknown sender", served.code or "ok"
    LOG.info("%s from %s: %s (HTTP %d) in %.3f s", asked, sender, outcome, served.status, served.seconds)
