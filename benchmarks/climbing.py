"""What keeps a climber of the public measure from first place, and what does not: the lab's world, one thing changed.

`python -m benchmarks.climbing` prints the table of docs/spec/chunking.md § 15; WORD plays the rows that have it.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import unit_millionths
from weighbeam.lab.simulate.measure import Interval, Trial, estimate_ratio, measure
from weighbeam.lab.simulate.season import play_season
from weighbeam.lab.simulate.world import FixedStrategy, MinerStrategy
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanisms.chunking.lab.attacks import try_many
from weighbeam.mechanisms.chunking.lab.world import ChunkingWorld
from weighbeam.mechanisms.chunking.words import split_words
from weighbeam.senses.local import LocalSenses

SEEDS = 6
BEST = 0.95
"""From which skill on a miner counts among the best."""
WORD_DIMENSIONS = 512
Judge = Callable[[NDArray[Any], Sequence[str], np.random.Generator], NDArray[Any]]
"""Vectors that the validator compares, from those of the miners' embedder, the texts, and the round's chance."""


def add_noise(deviation: float) -> Judge:
    """Each vector is moved in a random direction by so much of its length."""

    def judge(vectors: NDArray[Any], _: Sequence[str], chance: np.random.Generator) -> NDArray[Any]:
        moved = chance.normal(size=vectors.shape) * deviation / np.sqrt(vectors.shape[1])
        return unit_millionths(vectors / 1e6 + moved)

    return judge


def keep_directions(count: int) -> Judge:
    """So many secret directions of the embedder, others in each round."""

    def judge(vectors: NDArray[Any], _: Sequence[str], chance: np.random.Generator) -> NDArray[Any]:
        return unit_millionths(vectors / 1e6 @ chance.normal(size=(vectors.shape[1], count)))

    return judge


def count_words(_: NDArray[Any], texts: Sequence[str], __: np.random.Generator) -> NDArray[Any]:
    """Another embedder altogether, hidden from miners: which words a segment has, the frequent ones damped."""
    return unit_millionths(np.array([_hash_words(text) for text in texts]))


def _hash_words(text: str) -> NDArray[np.float64]:
    row = np.zeros(WORD_DIMENSIONS)
    for word, times in Counter(text[start:end].lower() for start, end in _list_spans(text)).items():
        digest = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        row[digest % WORD_DIMENSIONS] += (1 if digest >> 63 else -1) * np.sqrt(times)
    return row


def _list_spans(text: str) -> list[tuple[int, int]]:
    words = split_words(text)
    return [(start, end) for start, end in zip(words.starts, words.ends, strict=True) if end - start > 3]


def keep(vectors: NDArray[Any], _: Sequence[str], __: np.random.Generator) -> NDArray[Any]:
    return vectors


class JudgedWorld(ChunkingWorld):
    """The lab's world in which the validator compares other vectors than miners can compute."""

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses, judge: Judge) -> None:
        super().__init__(params, senses)
        self.judge = judge

    def observe(self, asked: Asked) -> Observation:
        seen = super().observe(asked)
        digests = [seen.facts["texts"][number] for number in seen.facts["embedded"]]
        chance = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{asked.seed}:judge".encode()).digest()[:8]))
        vectors = self.judge(seen.arrays["vectors"], [seen.texts[digest] for digest in digests], chance)
        return replace(seen, arrays={**seen.arrays, "vectors": vectors})


@dataclass(frozen=True, slots=True)
class Variant:
    """One row of the table."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    judge: Judge = keep


VARIANTS = (
    Variant("default"),
    Variant("`segment_sentences` 1", {"segment_sentences": 1}),
    Variant("`segment_sentences` 5", {"segment_sentences": 5}),
    Variant("`num_embeddings` 8", {"num_embeddings": 8}),
    Variant("`num_embeddings` null (all)", {"num_embeddings": None}),
    Variant("noise as long as the vectors", judge=add_noise(1.0)),
    Variant("noise of twice that", judge=add_noise(2.0)),
    Variant("32 secret directions of the embedder in each round", judge=keep_directions(32)),
    Variant("8 secret directions", judge=keep_directions(8)),
    Variant("a hidden embedder of words", judge=count_words),
    Variant("`curve` 0.8", {"curve": 0.8}),
    Variant("`curve` 0.9", {"curve": 0.9}),
    Variant("`curve` 0.95", {"curve": 0.95}),
    Variant("`curve` 0.9 and the hidden embedder of words", {"curve": 0.9}, count_words),
    Variant("`curve` 0.95 and the hidden embedder of words", {"curve": 0.95}, count_words),
)


def play(variant: Variant, senses: LocalSenses, strategy: MinerStrategy | None, miners: int) -> list[Trial]:
    world = JudgedWorld(variant.params, senses, variant.judge)
    return [play_season(world, strategy, miners, seed) for seed in range(SEEDS)]


def earn_honestly(trials: Sequence[Trial]) -> Interval:
    """What the best earn where nobody climbs, 1 being the average."""
    best = [[who for who, skill in trial.skill.items() if skill >= BEST] for trial in trials]
    earned = [fmean(trial.earned[who] for who in names) for trial, names in zip(trials, best, strict=True)]
    return estimate_ratio(earned, [trial.fair for trial in trials])


def main(*words: str) -> None:
    senses = LocalSenses(workers=1)
    print("| changed | the climber | the best of the honest, without it | tau |\n| --- | --- | --- | --- |")
    for variant in VARIANTS:
        if words and not any(word in variant.name for word in words):
            continue
        climbed = measure(play(variant, senses, FixedStrategy(try_many), 1))
        honest = earn_honestly(play(variant, senses, None, 1))
        print(f"| {variant.name} | {show(climbed.profit)} | {show(honest)} | {climbed.tau.value:.2f} |", flush=True)


def show(one: Interval) -> str:
    return f"{one.value:.1f} ({one.low:.1f} to {one.high:.1f})"


if __name__ == "__main__":
    main(*sys.argv[1:])
