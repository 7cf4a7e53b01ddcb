"""A validator's weigh-ins as a process of its own: through the SDK, over and over, until it is ended."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from engine.small_subnet import ALICE, START, Fast, make_weigh_in_context, open_store
from weighbeam.chain.bittensor.connection import CallTimeouts
from weighbeam.chain.bittensor.port import BittensorChain
from weighbeam.chain.local.file import ChainFile
from weighbeam.engine.weights.weigh_in import weigh_in

LIMITS = CallTimeouts(connect=4, read=4, submit=8, stall=4, close=1)
PAUSE_SECONDS = 0.05


async def weigh_on(folder: Path, url: str) -> None:
    file = ChainFile(folder / "chain.sqlite")
    chain = BittensorChain(url, file.parameters.netuid, ALICE, folder / "sdk-cache", limits=LIMITS)
    weigh_in_context, clock = replace(make_weigh_in_context(open_store(folder), file), chain=chain), Fast(speed=10.0)
    while True:
        done = await weigh_in(weigh_in_context, START + 60 + (clock.now() - START))
        fault = done.fault.code if done.fault else None
        row = done.submission
        print(done.decision.action, done.decision.reason, fault, row and row.state, row and row.reason, flush=True)
        await asyncio.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    asyncio.run(weigh_on(Path(sys.argv[1]), sys.argv[2]))
