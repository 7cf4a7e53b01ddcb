"""What a browser's processes hold together. A limit of address space is of no use: scripts reserve far more than they
use, so the kernel caps what each process can write to (`ulimit -d`), and this watches the sum."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from weighbeam.senses.pages.ends import TooLarge

PROC = Path("/proc")
PAUSE_SECONDS = 0.2
OWN = ("RssAnon:", "RssShmem:")


def list_below(pid: int) -> list[int]:
    """A process and everything started below it, parents first."""
    children: dict[int, list[int]] = defaultdict(list)
    for one, parent in _list_parents():
        children[parent].append(one)
    found = [pid]
    for one in found:
        found += children[one]
    return found


def hold_bytes(pid: int) -> int:
    """Memory of a process and those below it, without the program files they share."""
    return sum(map(_own_bytes, list_below(pid)))


async def watch_memory(pid: int, most: int) -> None:
    """Ends as `TooLarge` when there is more."""
    while True:
        await check_memory(pid, most)
        await asyncio.sleep(PAUSE_SECONDS)


async def check_memory(pid: int, most: int) -> None:
    if await asyncio.to_thread(hold_bytes, pid) > most:
        raise TooLarge("memory")


def _list_parents() -> Iterator[tuple[int, int]]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                said = (folder / "stat").read_bytes()
            except OSError:
                continue
            yield int(folder.name), int(said[said.rindex(b")") :].split()[2])


def _own_bytes(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(OWN))
