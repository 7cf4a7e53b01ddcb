"""The function that a miner would serve, as a chunker: asked as a validator asks it."""

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.task import Limits
from weighbeam.miners.chunkers.catalogue import Chunker
from weighbeam.miners.own import load_own
from weighbeam.senses.ports import Senses


def find_own(place: str, limits: Limits) -> Chunker:
    """`package.module:function` or `FILE.py:function`, from this folder."""
    handler = load_own(place, Path())

    def cut(document: str, _size: int, _qty: int, _senses: Senses) -> list[str]:
        task = {"document": document, **asdict(limits)}
        chunks: list[str] = asyncio.run(_wait(handler(task, ChunkingParams().timeout)))["chunks"]
        return chunks

    return Chunker(place, "your own", cut)


async def _wait(work: Awaitable[Any]) -> Any:
    return await work
