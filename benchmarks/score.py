"""From an observation to weights, `score` + `stand` + `weigh`: `python -m benchmarks.score` runs it alone."""

from collections.abc import Iterator

import numpy as np

from benchmarks.made_rounds import RandomEmbedder, RandomSenses, make_asked
from benchmarks.measure import Line, show_lines, time_once
from weighbeam.core.quantise import unit_millionths
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.contract import Observation

LAPS = 40
MECHANISM, PARAMS = Chunking(), ChunkingParams()


def measure_score() -> Iterator[Line]:
    few, many = _observe(25, 25), _observe(256, 256)
    yield _measure("25 answers, all different", few, 5)
    yield _measure("25 answers, no two segments alike", _unshare(few), 5)
    yield _measure("256 answers, 40 different", _observe(256, 40), 25)
    yield _measure("256 answers, all different", many, 25)
    yield _measure("256 answers, no two segments alike", _unshare(many), None)


def _measure(what: str, observation: Observation, wanted_ms: int | None) -> Line:
    scored = MECHANISM.score(PARAMS, observation)
    whole = min(time_once(lambda: _weigh(observation)) for _ in range(LAPS)) * 1e3
    alone = min(time_once(lambda: MECHANISM.score(PARAMS, observation)) for _ in range(LAPS)) * 1e3
    assert all(score.status == "valid" for score in scored.scores)
    shown = f"{whole:.1f} ms (score {min(1.0, alone / whole):.0%}; {len(observation.facts['embedded'])} vectors)"
    wanted = "reported" if wanted_ms is None else f"≤ {wanted_ms} ms"
    return Line(f"score + stand + weigh, {what}", shown, wanted, wanted_ms is None or whole <= wanted_ms)


def _weigh(observation: Observation) -> None:
    standings = MECHANISM.stand(PARAMS, (), MECHANISM.score(PARAMS, observation))
    MECHANISM.weigh(PARAMS, standings, {standing.hotkey for standing in standings})


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
