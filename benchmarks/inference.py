"""Rounds of inference: 100 long answers with real embeddings, a loop that must not wait, consensus of 1,000 vectors."""

import asyncio
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line, show_lines
from benchmarks.round import Timed
from weighbeam.core.quantise import MILLION
from weighbeam.core.word_order import read_order
from weighbeam.engine.support.process import freeze_memory
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.inference.agreement.filter import ReceivedAnswers
from weighbeam.mechanisms.inference.judge import RoundInput, judge_round
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.text.languages import find_language
from weighbeam.senses.local import LocalSenses

ANSWERS, WORDS, VECTORS, DIMENSIONS = 100, 330, 1000, 384
LAPS, BEAT_SECONDS, MOST_GAP = 5, 0.002, 0.05
ROUNDS = 3
"""What we do ourselves holds the loop up in every round; what the machine does, in some."""
MECHANISM, PARAMS = Inference(), InferenceParams(contradiction=False)
"""Without the entailment sense, whose share is a line of its own."""
COMPARED = 10
QUESTION = "Which metal is used for the thin wire inside an old light bulb?"
METALS = "tungsten copper silver iron nickel steel carbon platinum osmium tantalum".split()
PROMPT = "How do towns keep their water clean, their bread fresh and their roads open through a hard winter?"


def measure_inference() -> Iterator[Line]:
    senses = Timed(LocalSenses(remember=False, workers=1))
    warm_up(senses)
    asked = make_long_round()
    freeze_memory()
    gap, whole = asyncio.run(_play(asked, senses))
    once = len(senses.texts) == len(set(senses.texts))
    found = f"{len(senses.texts):,} texts embedded"
    yield Line(f"{ANSWERS} answers of about {WORDS} words: no text twice", found, "each once", once)
    other = whole - senses.seconds
    shown = f"{other / whole:.1%} ({other:.2f} of {whole:.1f} CPU seconds)"
    yield Line("part of that round that is not embedding", shown, "≤ 5 %", other / whole <= 0.05)
    gaps = [gap, *(asyncio.run(_play(asked, senses))[0] for _ in range(ROUNDS - 1))]
    shown = f"{min(gaps) * 1e3:.0f} ms in the best of {ROUNDS} rounds, {max(gaps) * 1e3:.0f} ms in the worst"
    yield Line("longest time the event loop waited meanwhile", shown, "≤ 50 ms in one", min(gaps) <= MOST_GAP)
    spent = measure_compared(senses)
    yield Line(
        f"a round of {COMPARED} short answers, held against each other by the entailment sense",
        f"{spent:.1f} CPU seconds",
        "≤ 6 s",
        spent <= 6,
    )
    for what, spread in (("clustered", 0.6), ("all over the place", 30.0)):
        given = make_vectors(spread)
        best = min(_spend(given) for _ in range(LAPS)) * 1e3
        yield Line(
            f"consensus over {VECTORS:,} given vectors, {what}", f"{best:.0f} ms of CPU", "≤ 150 ms", best <= 150
        )


def warm_up(senses: Timed) -> None:
    """What is loaded once in a process is no part of a round: the embedder, the table of word order, the languages."""
    senses.inner.embed(["warm up"])
    read_order("It is warm now.")
    find_language("Der Mond zieht das Wasser der Meere an, und darum steigt es.")


def measure_compared(senses: Timed) -> float:
    """CPU seconds of a round whose answers are all compared for contradiction, embedding and all."""
    senses.entailment.judge([("warm", "up")])
    start = time.process_time()
    observation = MECHANISM.observe(InferenceParams(), make_short_round(), senses)
    MECHANISM.score(InferenceParams(), observation)
    assert observation.facts["task"]["asks"] == "short"
    return time.process_time() - start


def make_short_round() -> Asked:
    reason = (
        "since a wire that thin must glow for a thousand hours without melting, as {} makers found out in those years"
    )
    texts = [f"It is {metal}, {reason.format(number + 2)}." for number, metal in enumerate(METALS)]
    answers = [Answer(f"miner-{number}", {"text": text}, 2.0) for number, text in enumerate(texts)]
    return Asked(Task("short", {"prompt": QUESTION}), Group(tuple(a.hotkey for a in answers)), tuple(answers), "bench")


def _spend(given: RoundInput) -> float:
    start = time.process_time()
    judge_round(given, PARAMS)
    return time.process_time() - start


async def _play(asked: Asked, senses: Timed) -> tuple[float, float]:
    """The longest gap between two beats of the loop, and the CPU seconds the round took."""
    beats = [time.perf_counter()]

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            beats.append(time.perf_counter())

    heart = asyncio.create_task(beat())
    start = time.process_time()
    observation = await asyncio.to_thread(MECHANISM.observe, PARAMS, asked, senses)
    await asyncio.to_thread(MECHANISM.score, PARAMS, observation)
    whole = time.process_time() - start
    heart.cancel()
    return float(np.diff(beats).max()), whole


def make_long_round(count: int = ANSWERS) -> Asked:
    """Every answer a text of its own."""
    answers = []
    for number in range(count):
        words = generate_document(f"answer-{number}", 3000).text.split()[:WORDS]
        answers.append(Answer(f"miner-{number:03d}", {"text": " ".join(words)}, 1.0 + number / 100))
    return Asked(Task("long", {"prompt": PROMPT}), Group(tuple(a.hotkey for a in answers)), tuple(answers), "bench")


def make_vectors(spread: float) -> RoundInput:
    """Answers around twelve centres; the larger `spread`, the less they agree."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(12, DIMENSIONS))
    vectors = centres[rng.integers(0, 12, VECTORS)] + spread * rng.normal(size=(VECTORS, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity: NDArray[np.float64] = np.round(np.clip(vectors @ vectors.T, -1, 1) * MILLION) / MILLION
    similarity = (similarity + similarity.T) / 2
    np.fill_diagonal(similarity, 1.0)
    received = ReceivedAnswers(
        hotkeys=tuple(f"miner-{number:04d}" for number in range(VECTORS)),
        quality=rng.uniform(0.3, 0.9, VECTORS),
        words=rng.integers(40, 400, VECTORS),
        entities=(None,) * VECTORS,
        similarity=similarity,
        overlap=None,
    )
    none = (None,) * VECTORS
    return RoundInput(received, tuple(rng.uniform(1, 9, VECTORS).tolist()), none, none, {})


if __name__ == "__main__":
    show_lines(measure_inference())
