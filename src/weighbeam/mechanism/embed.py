"""Embed texts so that one text the embedder fails on does not spoil the others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.ports.protocols import Embedder

MAX_FAULT = 200


def embed_texts(texts: Sequence[str], embedder: Embedder) -> tuple[NDArray[np.int32], list[int], list[str]]:
    """Vectors of `texts`, the positions of those the embedder failed on, and how: one bad text spoils no other."""
    vectors = np.zeros((len(texts), embedder.dimensions), dtype=np.int32)
    if not texts:
        return vectors, [], []
    try:
        return embedder.embed(texts), [], []
    except Exception:
        return _embed_one_by_one(texts, embedder, vectors)


def _embed_one_by_one(
    texts: Sequence[str], embedder: Embedder, vectors: NDArray[np.int32]
) -> tuple[NDArray[np.int32], list[int], list[str]]:
    missing: list[int] = []
    faults: set[str] = set()
    for position, text in enumerate(texts):
        try:
            vectors[position] = embedder.embed([text])[0]
        except Exception as fault:
            missing.append(position)
            faults.add(f"{type(fault).__name__}: {fault}"[:MAX_FAULT])
            if len(missing) == position + 1 >= 3:
                return vectors, list(range(len(texts))), sorted(faults)
    return vectors, missing, sorted(faults)
