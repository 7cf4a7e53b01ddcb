"""`minilm-int8` against `minilm-fp32`, side by side in one process on one thread: speed, nearness, a chunking round."""

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedder import make_texts
from benchmarks.measure import Line, time_alternately
from benchmarks.round import Timed, make_round
from weighbeam.mechanism.records import Asked
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses

LAPS = 3
ROUND_LAPS = 2


def measure_int8() -> Iterator[Line]:
    full, small = (LocalSenses(name, remember=False, workers=1) for name in ("minilm-fp32", "minilm-int8"))
    groups = make_texts()
    for name in ("12 pieces", "40 pieces", "200 pieces", "mixed"):
        yield _compare_rates(name, groups[name], full, small)
    yield _compare_vectors(groups["mixed"] + groups["200 pieces"], full, small)
    yield _compare_batches(groups["mixed"][::3], small)
    yield from _compare_rounds(full, small)


def _compare_rates(name: str, texts: list[str], full: LocalSenses, small: LocalSenses) -> Line:
    spent = time_alternately(
        lambda: full.embedder.inner.embed(texts), lambda: small.embedder.inner.embed(texts), LAPS, time.process_time
    )
    before, after = (len(texts) / seconds for seconds in spent)
    shown = f"{after / before:.2f}× ({before:.0f}/s → {after:.0f}/s)"
    return Line(f"texts per CPU second, {name}", shown, "≥ 2×", after >= 2 * before)


def _compare_vectors(texts: list[str], full: LocalSenses, small: LocalSenses) -> Line:
    exact, near = (senses.embedder.inner.embed(texts) / 1e6 for senses in (full, small))
    cosines, pairs = (exact * near).sum(axis=1), np.abs(exact @ exact.T - near @ near.T)
    shown = (
        f"{cosines.min():.4f} at least, {cosines.mean():.4f} in the mean of {len(texts)} texts; "
        f"similarities of pairs off by {pairs.mean():.4f}, at most {pairs.max():.3f}"
    )
    return Line("cosine to float32", shown, "≥ 0.995", bool(cosines.min() >= 0.995))


def _compare_batches(texts: list[str], small: LocalSenses) -> Line:
    embedder = small.embedder.inner
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    turned = embedder.embed(texts[::-1])[::-1]
    other = int((alone != embedder.embed(texts)).any(axis=1).sum() + (alone != turned).any(axis=1).sum())
    return Line("vectors that differ alone, together and reversed", f"{other} of {len(texts)}", "0", other == 0)


def _compare_rounds(full: LocalSenses, small: LocalSenses) -> Iterator[Line]:
    asked = make_round(full)
    laps = [(_score(asked, full), _score(asked, small)) for _ in range(ROUND_LAPS)]
    before, after = (min(lap[which][0] for lap in laps) for which in (0, 1))
    shown = f"{before / after:.2f}× ({before:.2f} → {after:.2f} CPU seconds)"
    yield Line("a chunking round of 25 answers × 50,000 characters", shown, "≥ 2×", before >= 2 * after)
    exact, near = (rewards for _, rewards in laps[0])
    rho = float(np.corrcoef(_rank(exact), _rank(near))[0, 1])
    winner = "the same winner" if exact.argmax() == near.argmax() else "another winner"
    yield Line("rank correlation of its rewards", f"{rho:.4f}, {winner}", "≥ 0.99", rho >= 0.99)


def _score(asked: Asked, senses: LocalSenses) -> tuple[float, NDArray[np.float64]]:
    """CPU seconds of observing and scoring with no vector remembered, and the rewards."""
    mechanism, params, start = Chunking(), ChunkingParams(), time.process_time()
    scored = mechanism.score(params, mechanism.observe(params, asked, Timed(senses)))
    return time.process_time() - start, np.array([score.value for score in scored.scores], dtype=np.float64)


def _rank(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return values.argsort().argsort()
