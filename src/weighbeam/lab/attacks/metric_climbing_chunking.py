"""Cut in many ways, judge each with the validator's own embedder, send the best."""

from collections.abc import Sequence

import numpy as np

from weighbeam.core.similarity import one_family
from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.chunking import ChunkingWorld
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.reward import compare_segments
from weighbeam.mechanisms.chunking.segments import segment_chunk

TRIES = 16
SECONDS = 3.0


def try_many(world: World, turn: Turn) -> Said:
    """A miner of middling skill that draws its cuts again and again, and knows which are liked."""
    assert isinstance(world, ChunkingWorld)
    drawn = [world.answer(turn).payload["chunks"] for _ in range(TRIES)]
    return Said({"chunks": max(drawn, key=lambda chunks: judge(world, chunks))}, SECONDS)


def judge(world: ChunkingWorld, chunks: Sequence[str]) -> float:
    """What the mechanism compares: parts of one chunk against parts of others."""
    assert isinstance(world.params, ChunkingParams)
    split = world.senses.sentences(world.params.splitter).split
    segments = [segment_chunk(split(chunk), world.params.segment_sentences) for chunk in chunks]
    chunk_of = np.repeat(np.arange(len(chunks)), [len(chunk) for chunk in segments])
    vectors = world.senses.embedder.embed([text for chunk in segments for text in chunk])
    return compare_segments(vectors, one_family(chunk_of, len(chunks)))[0].value


ATTACKS = (
    Attack(
        family="metric-climbing",
        mechanism="chunking",
        what="A miner of middling skill cuts every document in sixteen ways, judges each with the validator's own "
        "embedder and sends the best.",
        against="Nothing: the measure is public, and whoever computes it before answering knows more than who only "
        "reads.",
        open="It pays many times what an average miner earns and beats miners who know the true borders better. "
        "Whether that is an attack or the work that is asked for, the mechanism cannot say; a high similarity does "
        "not prove good chunks.",
        run=by_miners("chunking", lambda: Always(try_many), 1),
    ),
)
