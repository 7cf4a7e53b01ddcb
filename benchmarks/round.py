"""A whole round with real embeddings: 25 chunkings of a 50,000-character document."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners import packing
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Embedder, Entailment, Sentences

CHARACTERS, ANSWERS = 50_000, 25


class Timed:
    """The senses of a round, with the embedder's seconds and texts counted."""

    def __init__(self, senses: LocalSenses) -> None:
        self._senses = senses
        self.inner: Embedder = senses.embedder.inner
        self.id, self.digest, self.dimensions = self.inner.id, self.inner.digest, self.inner.dimensions
        self.embedder: Embedder = self
        self.seconds = 0.0
        self.texts: list[str] = []

    def sentences(self, name: str) -> Sentences:
        return self._senses.sentences(name)

    @property
    def entailment(self) -> Entailment:
        return self._senses.entailment

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        start = time.process_time()
        vectors = self.inner.embed(texts)
        self.seconds += time.process_time() - start
        self.texts += texts
        return vectors


def measure_round() -> Iterator[Line]:
    local = LocalSenses(remember=False, workers=1)
    local.embedder.embed(["warm up"])
    asked = make_round(local)
    mechanism, params, senses = Chunking(), ChunkingParams(), Timed(local)
    start = time.process_time()
    observation = mechanism.observe(params, asked, senses)
    mechanism.score(params, observation)
    whole = time.process_time() - start
    alone = _embed_per_answer(observation, senses.inner)
    sampled = sum(len(answer["sampled"]) for answer in observation.facts["answers"])
    once = len(senses.texts) == len(set(senses.texts))
    found = f"{len(senses.texts)} of {sampled} sampled segments embedded"
    yield Line("each distinct segment embedded once", found, "no text twice", once)
    ratio = alone / senses.seconds
    yield Line(
        "embedding once against per answer",
        f"{ratio:.1f}× ({alone:.1f} s → {senses.seconds:.1f} s)",
        "≥ 4×",
        ratio >= 4,
    )
    other = whole - senses.seconds
    share = other / whole
    yield Line(
        "part of the round that is not embedding",
        f"{share:.1%} ({other:.2f} of {whole:.2f} CPU seconds)",
        "≤ 5 %",
        share <= 0.05,
    )


def make_round(senses: LocalSenses) -> Asked:
    """Answers that pack sentences to 25 different sizes, as honest miners with different habits would."""
    document = generate_document("benchmark", CHARACTERS).text[:CHARACTERS]
    sizes = [1500 + 100 * i for i in range(ANSWERS)]
    answers = tuple(
        Answer(f"miner-{i}", {"chunks": packing.pack_sentences(document, size, 100, senses)}, 1.0)
        for i, size in enumerate(sizes)
    )
    task = Task("bench", {"document": document, "chunk_size": 4096})
    return Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, "bench")


def _embed_per_answer(observation: Observation, embedder: Embedder) -> float:
    facts = observation.facts
    start = time.process_time()
    for answer in facts["answers"]:
        numbers = [answer["segments"][i][1] for i in answer["sampled"]]
        embedder.embed([observation.texts[facts["texts"][number]] for number in numbers])
    return time.process_time() - start
