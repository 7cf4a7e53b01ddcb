"""The demo's miners: `python -m weighbeam.demo.miners CHAIN FOLDER [openai:MODEL@URL]` serves them until its parent is
gone."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from weighbeam.app.miner import make_app
from weighbeam.chain.local.administer import announce
from weighbeam.chain.local.file import ChainFile
from weighbeam.demo.cast import ASKED, VALIDATORS, DemoNeuron, list_miners
from weighbeam.miners.spoilers import App
from weighbeam.network.http_server import listen
from weighbeam.network.nonces import SKEW_SECONDS, NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses

READY = "miners are ready"
POLL_SECONDS = 0.5


async def serve_all(chain: Path, folder: Path, llm: str | None = None) -> None:
    senses = LocalSenses(workers=1)
    senses.embedder.embed(["warm"])
    file = ChainFile(chain)
    async with AsyncExitStack() as stack:
        for number, part in enumerate(list_miners(llm), 1):
            app = _app(part, folder, senses)
            host, port = await stack.enter_async_context(listen(app, f"127.0.1.{number}"))
            announce(file, part.hotkey.address, f"{host}:{port}")
        await asyncio.sleep(SKEW_SECONDS)
        print(READY, flush=True)
        parent = os.getppid()
        while os.getppid() == parent:
            await asyncio.sleep(POLL_SECONDS)


def _app(part: DemoNeuron, folder: Path, senses: LocalSenses) -> App:
    policy = SenderPolicy(PolicySettings(per_minute=600, burst=20, per_sender=len(ASKED) + 1))
    policy.update({validator.hotkey.address: SenderStanding(True, validator.stake) for validator in VALIDATORS})
    answers = {mechanism: part.acts[mechanism].answers for mechanism in ASKED if mechanism in part.acts}
    return make_app(part.hotkey, answers, NonceStore(folder / f"{part.name}.sqlite"), policy, senses)


if __name__ == "__main__":
    asyncio.run(serve_all(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:4]))
