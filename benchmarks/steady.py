"""How steady rewards are on a long document: over seeds of the sample, and against all segments of the seed's kind.

`python -m benchmarks.steady FILE` measures another document than the generated one, one chunker after the other.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line, show_lines
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.chunkers import installed_chunkers
from weighbeam.mechanisms.chunking.miners.packing import pack_sentences
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Embedder, Sentences

CHARACTERS, CHUNK_SIZE, SEEDS = 200_000, 4096, 12
LEFT_OUT = ("climb", "chonkie-token")
"""Too slow for so long a document; and one that fails."""
MECHANISM, ALL = Chunking(), ChunkingParams(sampling="chunks", num_embeddings=None)
CHUNKS, PLACES = ChunkingParams(sampling="chunks"), ChunkingParams()


@dataclass(slots=True)
class KeepingSenses:
    """Real senses that embed each text once for all that is measured, and count the CPU seconds of it."""

    local: LocalSenses
    seconds: float = 0.0
    vectors: dict[str, NDArray[np.int32]] = field(default_factory=dict)

    @property
    def embedder(self) -> Embedder:
        return self

    @property
    def id(self) -> str:
        return self.local.embedder.id

    @property
    def digest(self) -> str:
        return self.local.embedder.digest

    @property
    def dimensions(self) -> int:
        return self.local.embedder.dimensions

    def sentences(self, name: str) -> Sentences:
        return self.local.sentences(name)

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        start = time.process_time()
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, self.local.embedder.inner.embed(new), strict=True))
        rows = np.array([self.vectors[text] for text in texts])
        self.seconds += time.process_time() - start
        return rows


@dataclass(frozen=True, slots=True)
class SeededRewards:
    """Rewards [seed][chunker] and how many texts each seed's round embedded."""

    values: list[list[float]]
    embedded: float

    def deviate(self) -> float:
        """The mean over chunkers of the deviation over seeds."""
        return fmean(stdev(column) for column in zip(*self.values, strict=True))

    def agree(self, whole: Sequence[float]) -> float:
        """The share of pairs ordered as by `whole`, over all seeds; chunkers that cut alike make no pair."""
        pairs = [(i, j) for i, j in combinations(range(len(whole)), 2) if whole[i] != whole[j]]
        return fmean((row[i] > row[j]) == (whole[i] > whole[j]) for row in self.values for i, j in pairs)


def measure_steady(document: str | None = None) -> Iterator[Line]:
    senses = KeepingSenses(LocalSenses(remember=False, workers=1))
    text = document or generate_document("steady", CHARACTERS).text[:CHARACTERS]
    cutters = [chunker for chunker in installed_chunkers() if chunker.name not in LEFT_OUT]
    chunkings = [chunker.cut(text, CHUNK_SIZE, len(text), senses.local) for chunker in cutters]
    (whole,) = _play(text, chunkings, ALL, 1, senses).values
    before, after = (_play(text, chunkings, params, SEEDS, senses) for params in (CHUNKS, PLACES))
    few = int((CHUNKS.num_embeddings or 0) * before.embedded / after.embedded)
    equal = _play(text, chunkings, ChunkingParams(num_embeddings=few), SEEDS, senses)
    yield _compare_deviation(f"{len(chunkings)} chunkers, the same budget", before, after, 1 / 3)
    yield _compare_order(f"{len(chunkings)} chunkers, the same budget", whole, before, after, 0.9)
    yield _compare_deviation(f"{len(chunkings)} chunkers, as many texts embedded", before, equal, 1)
    yield _compare_order(f"{len(chunkings)} chunkers, as many texts embedded", whole, before, equal, 0)
    if document is None:
        yield from _measure_cost(text, senses.local)


def _play(
    text: str, chunkings: Sequence[list[str]], params: ChunkingParams, seeds: int, senses: KeepingSenses
) -> SeededRewards:
    answers = tuple(Answer(f"miner-{i}", {"chunks": chunks}) for i, chunks in enumerate(chunkings))
    task = Task("long", {"document": text, "chunk_size": CHUNK_SIZE, "chunk_qty": len(text)})
    values, embedded = [], []
    for seed in range(seeds):
        asked = Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, seed)
        observation = MECHANISM.observe(params, asked, senses)
        scores = MECHANISM.score(params, observation).scores
        values.append([score.value for score in scores if score.value is not None])
        embedded.append(len(observation.facts["embedded"]))
    return SeededRewards(values, fmean(embedded))


def _compare_deviation(what: str, before: SeededRewards, after: SeededRewards, limit: float) -> Line:
    ratio = after.deviate() / before.deviate()
    found = f"{before.deviate():.4f} → {after.deviate():.4f} ({before.embedded:.0f} → {after.embedded:.0f} texts)"
    return Line(f"deviation over seeds, {what}", f"{ratio:.2f}× ({found})", f"≤ {limit:.2f}×", ratio <= limit)


def _compare_order(
    what: str, whole: Sequence[float], before: SeededRewards, after: SeededRewards, least: float
) -> Line:
    shares = before.agree(whole), after.agree(whole)
    wanted = f"≥ {least:.0%}" if least else "more than before"
    met = shares[1] >= (least or shares[0])
    return Line(f"pairs ordered as with all segments, {what}", f"{shares[0]:.0%} → {shares[1]:.0%}", wanted, met)


def _measure_cost(text: str, local: LocalSenses) -> Iterator[Line]:
    """CPU seconds of rounds of 25 answers, each text embedded for the first time."""
    long = [pack_sentences(text, 2000 + 80 * i, 0, local) for i in range(25)]
    senses = KeepingSenses(local)
    start = time.process_time()
    found = _play(text, long, PLACES, 1, senses)
    ratio = (time.process_time() - start) / senses.seconds
    what = f"25 answers × {len(text):,} characters against the embedding of their {found.embedded:.0f} segments"
    yield Line(what, f"{ratio:.2f}×", "≤ 1.5×", ratio <= 1.5)
    yield _measure_spaces(text, long, senses)
    short = text[:50_000]
    brief = [pack_sentences(short, 1500 + 100 * i, 0, local) for i in range(25)]
    spent = []
    for params in (CHUNKS, PLACES):
        start = time.process_time()
        _play(short, brief, params, 1, KeepingSenses(local))
        spent.append(time.process_time() - start)
    ratio = spent[1] / spent[0]
    shown = f"{ratio:.2f}× ({spent[0]:.1f} → {spent[1]:.1f} CPU seconds)"
    yield Line(
        "25 answers × 50,000 characters, `places` against `chunks`", shown, "≤ 1.05×", spent[1] <= 1.05 * spent[0]
    )


def _measure_spaces(text: str, long: Sequence[list[str]], senses: KeepingSenses) -> Line:
    """What chunks cost besides embedding if they are no exact slices of the document."""
    spent = []
    for answers in (long, [[" ".join(chunk.split()) for chunk in chunks] for chunks in long]):
        start, embedding = time.process_time(), senses.seconds
        _play(text, answers, PLACES, 1, senses)
        spent.append(time.process_time() - start - (senses.seconds - embedding))
    ratio = spent[1] / spent[0]
    what = f"25 answers × {len(text):,} characters, all but embedding: white space changed, against exact slices"
    return Line(what, f"{ratio:.2f}× ({spent[0]:.2f} → {spent[1]:.2f} CPU seconds)", "≤ 2.5×", ratio <= 2.5)


if __name__ == "__main__":
    show_lines(measure_steady(Path(sys.argv[1]).read_text("utf-8") if sys.argv[1:] else None))
