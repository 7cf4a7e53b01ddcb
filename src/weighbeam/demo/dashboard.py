"""The demo's dashboard: the service over the first validator's journal."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress

from prometheus_client import CollectorRegistry

from weighbeam.app.service.access import open_access
from weighbeam.app.service.apps import load_runs, make_app
from weighbeam.app.settings.sources import load_settings
from weighbeam.app.shutdown import run_until_stopped
from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet import DemoSubnet
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.engine.support.lock import BEAT_SECONDS, HotkeyLock
from weighbeam.network.http_server import bind, listen
from weighbeam.service.app import report_health
from weighbeam.service.http.threads import ThreadPools

HOST, PORT = "127.0.0.1", 8484


@asynccontextmanager
async def open_dashboard(subnet: DemoSubnet, port: int, running: bool = True) -> AsyncIterator[int]:
    """Its port: `port`, or a free one if that is taken. `weighbeam serve` can go on with its settings later.

    While the demo is `running`, its validators hold their journals as every validator does.
    """
    part, runner = VALIDATORS[0], subnet.runners["chunking"][0]
    loaded = load_settings(save_validator_settings(subnet.folder, part), {})
    store, pools = runner.round_context.journal.store, ThreadPools()
    try:
        access = open_access(loaded, store, part.hotkey.address, f"{HOST}:0", pools)
        app = make_app(
            access,
            store,
            part.hotkey,
            runner.clock.now,
            CollectorRegistry(),
            lambda: report_health(pools.submissions),
            load_runs(loaded),
        )
        async with _hold_journals(subnet, running), listen(app, HOST, find_port(port)) as (_, bound):
            yield bound
    finally:
        pools.close()


def find_port(wanted: int = PORT) -> int:
    """That port, so that a bookmark works in the next demo; a free one if another program has it."""
    for port in (wanted, 0):
        with suppress(WeighbeamError), closing(bind(HOST, port)) as listener:
            return int(listener.getsockname()[1])
    return 0


@asynccontextmanager
async def _hold_journals(subnet: DemoSubnet, running: bool) -> AsyncIterator[None]:
    """Readers of a journal see whether its validator runs."""
    first = next(iter(subnet.runners.values())) if running else ()
    locks = [
        HotkeyLock(runner.round_context.journal.store, runner.weigh_in_context.own_hotkey, time.time)
        for runner in first
    ]
    for lock in locks:
        lock.take()
    beating = asyncio.create_task(_keep_beating(locks))
    try:
        yield
    finally:
        beating.cancel()
        for lock in locks:
            lock.release()


async def _keep_beating(locks: Sequence[HotkeyLock]) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        for lock in locks:
            await asyncio.to_thread(lock.beat)


def name_address(port: int) -> str:
    return f"http://{HOST}:{port}"


def stay(subnet: DemoSubnet, port: int, tell: Callable[[str], None]) -> None:
    """Keep the dashboard open where it was, until SIGTERM or SIGINT."""

    async def serve() -> None:
        async with open_dashboard(subnet, port, running=False) as bound:
            tell(name_address(bound))
            await asyncio.Event().wait()

    asyncio.run(run_until_stopped(serve()))
