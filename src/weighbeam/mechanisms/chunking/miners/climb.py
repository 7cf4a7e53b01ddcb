"""Hill climbing on the public metric: move, drop and add sentence cuts, steepest first, while the similarity rises.

It shows how far a miner gets with the validator's own embedder and a few seconds, and so what plain chunkers leave. It
breaks no rule: every chunk is the document's, within the limits. But it optimises the measure, not the chunks; the lab
lists the same work as the attack `metric-climbing`.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from weighbeam.core.similarity import one_family
from weighbeam.mechanisms.chunking.miners.packing import cut_at, pack, sentence_starts
from weighbeam.mechanisms.chunking.places import RuledDocument, rule_cells
from weighbeam.mechanisms.chunking.reward import compare_segments
from weighbeam.senses.ports.protocols import Senses

EVALUATIONS = 2000
REACH = 4
PER_SEGMENT = 3


class CutJudge:
    """The similarity of cuts of one document, as far as a miner can know it: the mean over all phases of the cells."""

    def __init__(self, document: str, starts: Sequence[int], per_segment: int, senses: Senses) -> None:
        self.length = len(document)
        self.embedder = senses.embedder
        phases = range(min(per_segment, len(starts)))
        self.ruled = [RuledDocument(document, rule_cells(starts, per_segment, phase)) for phase in phases]

    def judge(self, cuts: Sequence[int]) -> float:
        """Of chunks that begin at these characters."""
        spans = list(zip(cuts, [*cuts[1:], self.length], strict=True))
        return float(np.mean([self._compare(ruled, spans) for ruled in self.ruled]))

    def _compare(self, ruled: RuledDocument, spans: Sequence[tuple[int, int]]) -> float:
        segments, _ = ruled.cut(spans)
        chunk_of = np.array([segment.chunk for segment in segments])
        vectors = self.embedder.embed([segment.text for segment in segments])
        return compare_segments(vectors, one_family(chunk_of, len(spans)))[0].value


def climb_cuts(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    sentence = sentence_starts(document, senses)
    packed = pack(sentence, document, chunk_size)
    starts = sorted({*sentence, *packed})
    judge = CutJudge(document, sentence, PER_SEGMENT, senses)
    cuts = [starts.index(cut) for cut in packed]
    best = judge.judge(packed)
    spent, rising = 0, True
    while rising and spent < EVALUATIONS:
        ends = [*starts, len(document)]
        most, over = max(chunk_qty, len(cuts)), _measure_excess(cuts, ends, chunk_size)
        moves = (changed for changed in _moves(cuts, len(starts)) if len(changed) <= most)
        fitting = [changed for changed in moves if _measure_excess(changed, ends, chunk_size) <= over]
        rated = [(judge.judge([starts[i] for i in changed]), changed) for changed in fitting]
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


def _measure_excess(cuts: list[int], ends: list[int], chunk_size: int) -> int:
    """Characters over the limit, all chunks together: a move may keep what the start could not help."""
    at = [ends[i] for i in (*cuts, -1)]
    return sum(max(0, end - start - chunk_size) for start, end in pairwise(at))
