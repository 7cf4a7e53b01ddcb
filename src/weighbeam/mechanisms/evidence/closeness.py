"""Cosines of texts, exact to the millionth; a text our embedder fails on has none."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.embed import embed_texts
from weighbeam.senses.ports import Embedder

DECIMALS = 6
BATCH = 64


@dataclass(slots=True)
class Closeness:
    """Vectors in millionths, by text. A missing one is our fault and not the text's if the embedder is `down`, or if
    there was no time for it."""

    rows: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    down: bool = False
    late: set[str] = field(default_factory=set)

    def compare(self, one: str, others: Iterable[str]) -> float | None:
        """The highest cosine of a text with others; None if one of them has no vector, or there is none."""
        known = [self.rows.get(text) for text in (one, *others)]
        vectors = [vector for vector in known if vector is not None]
        if len(vectors) < len(known) or len(vectors) < 2:
            return None
        return max(_cosine(vectors[0], vector) for vector in vectors[1:])

    def is_to_blame(self, texts: Iterable[str]) -> bool:
        """Whether we, and not these texts, are why one of them has no vector."""
        return self.down or not self.late.isdisjoint(texts)


def embed_in_time(
    groups: Iterable[Sequence[str]], embedder: Embedder, known: str, has_time: Callable[[], bool]
) -> Closeness:
    """Each distinct text once, the smallest groups first, so that one who brings much holds up himself and nobody else.

    With every batch goes a text of our own, new each time so that no memory answers for it: if not even that can be
    embedded, the embedder is down; else what cannot be has itself to blame (spec § 9).
    """
    close = Closeness()
    for number, batch in enumerate(_batch(groups)):
        if close.down or not has_time():
            close.late |= set(batch)
        else:
            _embed_batch(close, f"{known} {number}", sorted(set(batch)), embedder)
    return close


def _batch(groups: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    seen: set[str] = set()
    batch: list[str] = []
    for group in sorted(groups, key=lambda group: (len(group), sum(map(len, group)))):
        batch += [text for text in group if text not in seen]
        seen.update(group)
        while len(batch) >= BATCH:
            yield batch[:BATCH]
            batch = batch[BATCH:]
    if batch:
        yield batch


def _embed_batch(close: Closeness, known: str, texts: Sequence[str], embedder: Embedder) -> None:
    every = [known, *texts]
    vectors, missing, faults = embed_texts(every, embedder)
    lost = set(missing)
    close.rows |= {text: vectors[i].astype(np.float64) for i, text in enumerate(every) if i not in lost}
    close.faults |= set(faults)
    close.down = 0 in lost


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return round(min(1.0, max(-1.0, float(one @ other) / MILLION**2)), DECIMALS)
