"""The function that a miner would serve, as a chunker: asked as a validator asks it."""

import asyncio
import reprlib
from collections.abc import Awaitable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.task import Limits
from weighbeam.miners.chunkers.catalogue import Chunker
from weighbeam.miners.own import load_own
from weighbeam.senses.ports import Senses


def find_own(place: str, limits: Limits) -> Chunker:
    """`package.module:function` or `FILE.py:function`, from this folder."""
    handler = load_own(place, Path())

    def cut(document: str, _size: int, _qty: int, _senses: Senses) -> list[str]:
        task, seconds = {"document": document, **asdict(limits)}, ChunkingParams().timeout
        return _read(place, asyncio.run(_wait(handler(task, seconds), seconds)))

    return Chunker(place, "your own", cut)


def _read(place: str, answer: Any) -> list[str]:
    chunks = answer.get("chunks") if isinstance(answer, dict) else None
    if not isinstance(chunks, list) or not all(isinstance(chunk, str) for chunk in chunks):
        told = f"{place} gave {reprlib.repr(answer)}"
        raise WeighbeamError("chunker_failed", told, 'return {"chunks": ["…", "…"]}, a list of texts')
    return chunks


async def _wait(work: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await work
