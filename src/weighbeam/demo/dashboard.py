"""The demo's dashboard: the service on the first validator's journal, while the demo runs and after it if wanted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet import Subnet
from weighbeam.demo.write_settings import write_validator
from weighbeam.network.listen import listen
from weighbeam.operate.compose import make_app
from weighbeam.operate.gates import open_entrance
from weighbeam.operate.reading import load_runs
from weighbeam.operate.stop import run_until_stopped
from weighbeam.service.app import report_health
from weighbeam.service.pool import Pools
from weighbeam.settings.load import load_settings

HOST = "127.0.0.1"


@asynccontextmanager
async def open_dashboard(subnet: Subnet, port: int = 0) -> AsyncIterator[int]:
    """Its port, `port` or a free one; its settings are those that `weighbeam serve` can go on with later."""
    part, post = VALIDATORS[0], subnet.posts["chunking"][0]
    loaded = load_settings(write_validator(subnet.folder, part), {})
    store, pools = post.bench.journal.store, Pools()
    try:
        entrance = open_entrance(loaded, store, part.hotkey.address, f"{HOST}:0", pools)
        app = make_app(
            entrance,
            store,
            part.hotkey,
            post.clock.now,
            CollectorRegistry(),
            lambda: report_health(pools.desk),
            load_runs(loaded),
        )
        async with listen(app, HOST, port) as (_, bound):
            yield bound
    finally:
        pools.close()


def name_address(port: int) -> str:
    return f"http://{HOST}:{port}"


def stay(subnet: Subnet, port: int, tell: Callable[[str], None]) -> None:
    """Keep the dashboard open where it was, until SIGTERM or SIGINT."""

    async def serve() -> None:
        async with open_dashboard(subnet, port):
            tell(name_address(port))
            await asyncio.Event().wait()

    asyncio.run(run_until_stopped(serve()))
