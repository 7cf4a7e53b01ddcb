"""Ask a server as fast as it answers, over connections that stay open: a process of its own, with little to do itself.

`python -m benchmarks.load_client` reads `{port, seconds, connections, headers, targets: {name: [path, …]}, seed}` as
JSON and writes `{seconds, spent: {name: [ms, …]}, faults: {"name status": count}, cpu}`.
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from itertools import accumulate
from typing import Any

END = b"\r\n\r\n"
PATIENCE = 30.0


class Tally:
    """What came of each request, by the name of its target."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}
        self.faults: Counter[str] = Counter()

    def note(self, name: str, seconds: float, status: int) -> None:
        self.spent.setdefault(name, []).append(round(seconds * 1e3, 2))
        if status != 200:
            self.faults[f"{name} {status}"] += 1


async def ask_again_and_again(given: dict[str, Any], number: int, until: float, tally: Tally) -> None:
    """One connection, one request after the other, every name as often as any other.

    Of one name's paths some are asked for more than others, as people do: the second half as often as the first, the
    third a third as often …  With a `pace` each is due so many seconds after the one before, and is timed from then on,
    however late the connection was free for it.
    """
    chance = random.Random(f"{given['seed']} {number}")
    heads = {
        name: [write_head(path, given["headers"]) for path in paths] for name, paths in sorted(given["targets"].items())
    }
    names = list(heads)
    popular = {name: list(accumulate(1 / rank for rank in range(1, len(ones) + 1))) for name, ones in heads.items()}
    reader, writer = await asyncio.open_connection("127.0.0.1", given["port"])
    pace, due = given.get("pace"), time.perf_counter() + chance.random() * given.get("pace", 0.0)
    while (start := time.perf_counter()) < until:
        if pace is not None:
            await asyncio.sleep(max(0.0, due - start))
            start, due = due, due + pace
        name = chance.choice(names)
        try:
            writer.write(chance.choices(heads[name], cum_weights=popular[name])[0])
            status = await asyncio.wait_for(read_reply(reader), PATIENCE)
        except (OSError, EOFError, TimeoutError, ValueError) as fault:
            tally.faults[f"{name} {type(fault).__name__}"] += 1
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", given["port"])
            continue
        tally.note(name, time.perf_counter() - start, status)
    writer.close()


def write_head(path: str, headers: dict[str, str]) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + END


async def read_reply(reader: asyncio.StreamReader) -> int:
    """The status of a reply, read to its end."""
    head = (await reader.readuntil(END)).lower()
    status = int(head.split(b" ", 2)[1])
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    if length:
        await reader.readexactly(int(length))
    elif b"chunked" in head:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return status


async def load(given: dict[str, Any]) -> dict[str, Any]:
    tally, start = Tally(), time.perf_counter()
    until = start + given["seconds"]
    await asyncio.gather(*(ask_again_and_again(given, n, until, tally) for n in range(given["connections"])))
    spent = time.perf_counter() - start
    return {"seconds": spent, "spent": tally.spent, "faults": dict(tally.faults), "cpu": time.process_time()}


if __name__ == "__main__":
    json.dump(asyncio.run(load(json.load(sys.stdin))), sys.stdout)
