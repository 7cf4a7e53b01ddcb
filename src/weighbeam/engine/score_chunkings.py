"""What are these chunkings of a document worth? The validator's own path, for whoever has chunks and no question.

result = score_chunkings(document, {"mine": chunks, "theirs": others}, LocalSenses(), chunk_size=800)
result.report()["answers"], result.explain("mine")
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.engine.what_if import WhatIf, score_question
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.senses.ports import Senses


def score_chunkings(
    document: str,
    chunkings: Mapping[str, Sequence[str]],
    senses: Senses,
    chunk_size: int | None = None,
    chunk_qty: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> WhatIf:
    """Chunkings by name, judged together as the answers of one round; nobody is charged for time."""
    answers = [{"hotkey": name, "chunks": list(chunks)} for name, chunks in chunkings.items()]
    question = {"document": document, "chunk_size": chunk_size, "chunk_qty": chunk_qty, "answers": answers}
    return score_question(load_mechanism("chunking"), question, senses, overrides)
