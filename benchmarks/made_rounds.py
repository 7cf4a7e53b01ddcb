"""Rounds that need no model: a generated document, seeded cuts between its sentences, seeded random unit vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.core.quantise import unit_millionths
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.miners.packing import cut_at, sentence_starts
from weighbeam.senses.adapters.text.sentences import RuleSentences
from weighbeam.senses.ports.protocols import Embedder, Sentences

CHARACTERS, CHUNKS = 50_000, 20


class RandomEmbedder:
    """A unit vector per text, drawn from the text's own digest."""

    id, digest, dimensions = "random", "random-1", 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        drawn = [np.random.default_rng(int(digest_text(text)[:16], 16)).normal(size=self.dimensions) for text in texts]
        return unit_millionths(np.array(drawn))


@dataclass(frozen=True, slots=True)
class RandomSenses:
    embedder: Embedder = field(default_factory=RandomEmbedder)

    def sentences(self, name: str) -> Sentences:
        del name
        return RuleSentences()


def make_asked(seed: int, miners: int, distinct: int, characters: int = CHARACTERS, chunks: int = CHUNKS) -> Asked:
    """`miners` answers to one document, `distinct` of them different from each other."""
    rng = np.random.default_rng(seed)
    document = generate_document(seed, characters).text
    starts = sentence_starts(document, RandomSenses())[1:]
    cuts = [[0, *sorted(rng.choice(starts, chunks - 1, replace=False).tolist())] for _ in range(distinct)]
    chunkings = [cut_at(document, one) for one in cuts]
    picked = [*range(distinct), *rng.integers(0, distinct, miners - distinct).tolist()]
    seconds = rng.uniform(0.5, 5.0, miners).round(6).tolist()
    answers = tuple(
        Answer(f"miner-{uid}", {"chunks": chunkings[which]}, spent, uid=uid)
        for uid, (which, spent) in enumerate(zip(picked, seconds, strict=True))
    )
    task = Task(f"made-{seed}", {"document": document, "chunk_size": 4096})
    return Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, seed)
