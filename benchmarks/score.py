"""From an observation to weights, `score` + `stand` + `weigh`: `python -m benchmarks.score` runs it alone."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.made_rounds import RandomEmbedder, RandomSenses, make_asked
from benchmarks.measure import Line, show_lines
from weighbeam.core.quantise import unit_millionths
from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams

LAPS = 60
MECHANISM, PARAMS = Chunking(), ChunkingParams()


def measure_score() -> Iterator[Line]:
    few, many = _observe(25, 25), _observe(256, 256)
    cases = {
        "25 answers, all different": (few, 5),
        "25 answers, no two segments alike": (_unshare(few), 5),
        "256 answers, 40 different": (_observe(256, 40), 25),
        "256 answers, all different": (many, 25),
        "256 answers, no two segments alike": (_unshare(many), None),
    }
    laps = [{what: _time(observation) for what, (observation, _) in cases.items()} for _ in range(LAPS)]
    for what, (observation, limit) in cases.items():
        whole, score = (min(lap[what][i] for lap in laps) * 1e3 for i in (0, 1))
        shown = f"{whole:.1f} ms (score {score / whole:.0%}; {len(observation.facts['embedded'])} vectors)"
        wanted = "reported" if limit is None else f"≤ {limit} ms"
        yield Line(f"score + stand + weigh, {what}", shown, wanted, limit is None or whole <= limit)


def _time(observation: Observation) -> tuple[float, float]:
    """Seconds for all three, and for `score` alone."""
    start = time.perf_counter()
    scored = MECHANISM.score(PARAMS, observation)
    score = time.perf_counter() - start
    standings = MECHANISM.stand(PARAMS, (), scored)
    MECHANISM.weigh(PARAMS, standings, {standing.hotkey for standing in standings})
    whole = time.perf_counter() - start
    assert all(score.status == "valid" for score in scored.scores)
    return whole, score


def _observe(miners: int, distinct: int) -> Observation:
    """As scoring meets it: packed and read again."""
    observed = MECHANISM.observe(PARAMS, make_asked(1, miners, distinct), RandomSenses())
    return Observation.unpack(observed.pack())


def _unshare(observation: Observation) -> Observation:
    """The same round as if every sampled segment of every answer had a text of its own."""
    answers, embedded, texts = [], [], 0
    for answer in observation.facts["answers"]:
        segments = [[chunk, texts + i] for i, (chunk, _) in enumerate(answer["segments"])]
        embedded += [texts + i for i in answer["sampled"]]
        texts += len(segments)
        answers.append({**answer, "segments": segments})
    drawn = np.random.default_rng(1).normal(size=(len(embedded), RandomEmbedder.dimensions))
    facts = {**observation.facts, "answers": answers, "embedded": embedded, "texts": [""] * texts}
    return Observation(facts, {"vectors": unit_millionths(drawn)})


if __name__ == "__main__":
    show_lines(measure_score())
