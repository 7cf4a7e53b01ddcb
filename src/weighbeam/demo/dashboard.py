"""The demo's dashboard: the service over the first validator's journal."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from weighbeam.app.service.access import open_access
from weighbeam.app.service.apps import load_runs, make_app
from weighbeam.app.settings.sources import load_settings
from weighbeam.app.shutdown import run_until_stopped
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet import DemoSubnet
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.network.http_server import listen
from weighbeam.service.app import report_health
from weighbeam.service.http.threads import ThreadPools

HOST = "127.0.0.1"


@asynccontextmanager
async def open_dashboard(subnet: DemoSubnet, port: int = 0) -> AsyncIterator[int]:
    """Its port, `port` or a free one; its settings are those that `weighbeam serve` can go on with later."""
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
        async with listen(app, HOST, port) as (_, bound):
            yield bound
    finally:
        pools.close()


def name_address(port: int) -> str:
    return f"http://{HOST}:{port}"


def stay(subnet: DemoSubnet, port: int, tell: Callable[[str], None]) -> None:
    """Keep the dashboard open where it was, until SIGTERM or SIGINT."""

    async def serve() -> None:
        async with open_dashboard(subnet, port):
            tell(name_address(port))
            await asyncio.Event().wait()

    asyncio.run(run_until_stopped(serve()))
