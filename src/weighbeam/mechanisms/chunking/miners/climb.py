"""Hill climbing on the public metric: move, drop and add sentence cuts, steepest first, while the similarity rises.

It shows how far a miner gets with the validator's own embedder and a few seconds, and so what plain chunkers leave.
"""

from collections.abc import Iterator

import numpy as np

from weighbeam.core.similarity import one_family
from weighbeam.mechanisms.chunking.miners.packing import cut_at, pack, sentence_starts
from weighbeam.mechanisms.chunking.reward import compare_segments
from weighbeam.mechanisms.chunking.segments import segment_chunk
from weighbeam.senses.ports.protocols import Senses

EVALUATIONS = 2000
REACH = 4
PER_SEGMENT = 3


def climb_cuts(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    sentence = sentence_starts(document, senses)
    packed = pack(sentence, document, chunk_size)
    starts = sorted({*sentence, *packed})
    sentences = [piece.strip() for piece in cut_at(document, starts)]
    cuts = [starts.index(cut) for cut in packed]
    best = _judge(sentences, cuts, senses)
    spent, rising = 0, True
    while rising and spent < EVALUATIONS:
        fitting = [c for c in _moves(cuts, len(starts)) if _fits(c, starts, document, chunk_size, chunk_qty)]
        rated = [(_judge(sentences, changed, senses), changed) for changed in fitting]
        spent += len(rated)
        top, changed = max(rated, default=(best, cuts))
        rising = top > best
        if rising:
            best, cuts = top, changed
    return cut_at(document, [starts[i] for i in cuts])


def _moves(cuts: list[int], sentences: int) -> Iterator[list[int]]:
    """Each cut moved a little, each cut dropped, a cut added in the middle of each chunk."""
    for i in range(1, len(cuts)):
        for step in (-1, 1, -2, 2, -3, 3, -REACH, REACH):
            low, high = cuts[i - 1], cuts[i + 1] if i + 1 < len(cuts) else sentences
            if low < cuts[i] + step < high:
                yield [*cuts[:i], cuts[i] + step, *cuts[i + 1 :]]
        yield [*cuts[:i], *cuts[i + 1 :]]
    for low, high in zip(cuts, [*cuts[1:], sentences], strict=True):
        for middle in range(low + PER_SEGMENT, high - PER_SEGMENT + 1, PER_SEGMENT):
            yield sorted([*cuts, middle])


def _fits(cuts: list[int], starts: list[int], document: str, chunk_size: int, chunk_qty: int) -> bool:
    if len(cuts) > chunk_qty or len(set(cuts)) < len(cuts):
        return False
    return all(len(chunk) <= chunk_size for chunk in cut_at(document, [starts[i] for i in cuts]))


def _judge(sentences: list[str], cuts: list[int], senses: Senses) -> float:
    chunks = [sentences[a:b] for a, b in zip(cuts, [*cuts[1:], len(sentences)], strict=True)]
    segments = [segment_chunk(chunk, PER_SEGMENT) for chunk in chunks]
    texts = [text for chunk in segments for text in chunk]
    chunk_of = np.repeat(np.arange(len(chunks)), [len(chunk) for chunk in segments])
    return compare_segments(senses.embedder.embed(texts), one_family(chunk_of, len(chunks)))[0].value
