"""Cut a document with several chunkers under the same limits, a miner's own function included.

chunkings = cut_document(document, LocalSenses(), chunk_size=800)
"""

import asyncio
import reprlib
import time
import traceback
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.miners.chunkers import Chunker, find_chunker, installed_chunkers
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.task import ChunkingLimits, parse_limits
from weighbeam.miners.custom import load_custom_handler
from weighbeam.senses.ports.protocols import Senses


def load_own_chunker(place: str, limits: ChunkingLimits) -> Chunker:
    """`package.module:function` or `FILE.py:function`, from this folder."""
    handler = load_custom_handler(place, Path())

    def cut(document: str, _size: int, _qty: int, _senses: Senses) -> list[str]:
        task, seconds = {"document": document, **asdict(limits)}, ChunkingParams().timeout
        return _parse_chunks(place, asyncio.run(_wait(handler(task, seconds), seconds)))

    return Chunker(place, "your own", cut)


def _parse_chunks(place: str, answer: Any) -> list[str]:
    chunks = answer.get("chunks") if isinstance(answer, dict) else None
    if not isinstance(chunks, list) or not all(isinstance(chunk, str) for chunk in chunks):
        told = f"{place} gave {reprlib.repr(answer)}"
        raise WeighbeamError("chunker_failed", told, 'return {"chunks": ["…", "…"]}, a list of texts')
    return chunks


async def _wait(work: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await work


def cut_document(
    document: str,
    senses: Senses,
    chunk_size: int | None = None,
    chunk_qty: int | None = None,
    names: Sequence[str] = ("all",),
) -> dict[str, list[str]]:
    """By name, what each of these chunkers makes of a document; `all` are the installed ones."""
    text = ReferenceDocument(document).text
    limits = parse_limits({"document": text, "chunk_size": chunk_size, "chunk_qty": chunk_qty}, ChunkingParams())
    return {chunker.name: cut_timed(chunker, text, limits, senses)[0] for chunker in name_chunkers(names, limits)}


def name_chunkers(names: Sequence[str], limits: ChunkingLimits) -> list[Chunker]:
    """The chunkers called so, each once: those that come along, then functions of one's own (`FILE.py:function`)."""
    once = dict.fromkeys(names)
    named = [find_chunker(name) for name in once if ":" not in name and name != "all"]
    return [
        *(installed_chunkers() if "all" in names else named),
        *(load_own_chunker(name, limits) for name in once if ":" in name),
    ]


def _find_line(fault: Exception) -> str:
    last = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def cut_timed(chunker: Chunker, document: str, limits: ChunkingLimits, senses: Senses) -> tuple[list[str], float]:
    """The chunks and the seconds they took; the import of a package is not part of that."""
    chunker.load()
    start = time.perf_counter()
    try:
        chunks = chunker.cut(document, limits.chunk_size, limits.chunk_qty, senses)
    except WeighbeamError:
        raise
    except Exception as fault:
        told = f"{chunker.name} failed: {type(fault).__name__}: {fault}, in {_find_line(fault)}"
        raise WeighbeamError("chunker_failed", told, "fix it, or try other limits or another chunker") from fault
    return chunks, time.perf_counter() - start
