"""Let chunkers cut a document, all under the same limits.

chunkings = cut_document(document, LocalSenses(), chunk_size=800)
"""

import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.check import Document
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.task import Limits, read_limits
from weighbeam.miners.chunkers.catalogue import Chunker, find_chunker, installed_chunkers
from weighbeam.miners.chunkers.own_chunker import find_own
from weighbeam.senses.ports import Senses


def cut_document(
    document: str,
    senses: Senses,
    chunk_size: int | None = None,
    chunk_qty: int | None = None,
    names: Sequence[str] = ("all",),
) -> dict[str, list[str]]:
    """By name, what each of these chunkers makes of a document; `all` are the installed ones."""
    text = Document(document).text
    limits = read_limits({"document": text, "chunk_size": chunk_size, "chunk_qty": chunk_qty}, ChunkingParams())
    return {chunker.name: cut_timed(chunker, text, limits, senses)[0] for chunker in name_chunkers(names, limits)}


def name_chunkers(names: Sequence[str], limits: Limits) -> list[Chunker]:
    """The chunkers called so, each once: those that come along, then functions of one's own (`FILE.py:function`)."""
    once = dict.fromkeys(names)
    named = [find_chunker(name) for name in once if ":" not in name and name != "all"]
    return [
        *(installed_chunkers() if "all" in names else named),
        *(find_own(name, limits) for name in once if ":" in name),
    ]


def _find_line(fault: Exception) -> str:
    last = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def cut_timed(chunker: Chunker, document: str, limits: Limits, senses: Senses) -> tuple[list[str], float]:
    """The chunks and the seconds they took; the import of a package is not part of that."""
    chunker.load()
    start = time.perf_counter()
    try:
        chunks = chunker.cut(document, limits.chunk_size, limits.chunk_qty, senses)
    except WeighbeamError:
        raise
    except Exception as fault:
        told = f"{chunker.name} failed: {type(fault).__name__}: {fault}, in {_find_line(fault)}"
        raise WeighbeamError("chunker_failed", told, "mend it, or try other limits or another chunker") from fault
    return chunks, time.perf_counter() - start
