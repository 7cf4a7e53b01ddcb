"""Cosines of texts, exact to the millionth; a text our embedder fails on has none."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.embed import embed_texts
from weighbeam.senses.ports import Embedder

DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Closeness:
    """Vectors in millionths, by text. `down` says that a missing one is the embedder's fault, not the text's."""

    rows: dict[str, NDArray[np.float64]]
    faults: tuple[str, ...]
    down: bool

    def compare(self, one: str, others: Iterable[str]) -> float | None:
        """The highest cosine of a text with others; None if one of them has no vector, or there is none."""
        known = [self.rows.get(text) for text in (one, *others)]
        vectors = [vector for vector in known if vector is not None]
        if len(vectors) < len(known) or len(vectors) < 2:
            return None
        return max(_cosine(vectors[0], vector) for vector in vectors[1:])


def embed_all(texts: Iterable[str], embedder: Embedder, known: str) -> Closeness:
    """Each distinct text once, after `known`: a text of our own, new each time so that no memory answers for it. If
    not even that can be embedded, the embedder is down; else what cannot be has itself to blame (spec § 9).
    """
    distinct = [known, *sorted(set(texts) - {known})]
    vectors, missing, faults = embed_texts(distinct, embedder)
    lost = set(missing)
    rows = {text: vectors[i].astype(np.float64) for i, text in enumerate(distinct) if i not in lost}
    return Closeness(rows, tuple(faults), 0 in lost)


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return round(min(1.0, max(-1.0, float(one @ other) / MILLION**2)), DECIMALS)
