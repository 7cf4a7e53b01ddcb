"""A process that serves and asks with few files to open: `python busy_asker.py FILES ENDPOINT HOTKEYS`.

It prints the port it serves on, asks the endpoint once a line comes in, and prints what came of it as JSON.
"""

import asyncio
import json
import resource
import sys
from collections import Counter
from typing import Any

from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, Target
from weighbeam.network.http_server import listen
from weighbeam.network.keys import Hotkey

ALICE, BOB = Hotkey.from_uri("//Alice"), Hotkey.from_uri("//Bob")


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


async def main(endpoint: str, hotkeys: int) -> None:
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=hotkeys, parallel=hotkeys))
    question = MinerQuestion("r", "chunking", "h", {"document": "d"}, 2.0, "seed")
    async with listen(hello, "127.0.0.1") as (_, port):
        print(port, flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        heard = await asker.ask_all(question, [Target(BOB.address, endpoint)] * hotkeys)
    print(json.dumps(Counter(f"{reply.status} {reply.reason}" for reply in heard)), flush=True)


if __name__ == "__main__":
    files = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    asyncio.run(main(sys.argv[2], int(sys.argv[3])))
