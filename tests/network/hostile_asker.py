"""A validator's asker in a process of its own: each line `[[hotkey, endpoint], …]` it reads is a round it asks.

It prints a line of JSON per round: `[[status, reason, seconds], …]`, in the order given.
"""

import asyncio
import itertools
import json
import sys

from network.loopback import ALICE
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, Target

DEADLINE = 1.5
MAX_BYTES, MAX_NODES = 78_520, 3_534
"""What a document of 10,000 characters allows."""
DOCUMENT = "One sentence. Another sentence. A third one."


async def main() -> None:
    asker = Asker(ALICE, AskSettings(allow_private=True))
    for number in itertools.count():
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return
        targets = [Target(hotkey, endpoint) for hotkey, endpoint in json.loads(line)]
        task = {"document": DOCUMENT, "chunk_size": 100, "chunk_qty": 5, "time_soft_max": 3.0}
        question = MinerQuestion(f"r-{number}", "chunking", "hash", task, DEADLINE, f"s-{number}", MAX_BYTES, MAX_NODES)
        heard = await asker.ask_all(question, targets)
        print(json.dumps([[reply.status, reply.reason, reply.seconds] for reply in heard]), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
