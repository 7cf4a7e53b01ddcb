"""A thousand answers from filter to emissions go without a loop over pairs, which would take seconds.

The best of some runs counts. How fast it is, `python -m benchmarks.inference` says.
"""

import time

import numpy as np
import pytest

from weighbeam.mechanisms.inference.agreement.filter import ReceivedAnswers
from weighbeam.mechanisms.inference.judge import RoundInput, format_judged, judge_round
from weighbeam.mechanisms.inference.params import InferenceParams

pytestmark = pytest.mark.alone
COUNT, MOST_SECONDS, RUNS = 1000, 0.5, 40


def make_round(offset: float, garbage: int) -> RoundInput:
    dice = np.random.default_rng(1)
    points = dice.normal(size=(COUNT, 50)) + offset
    points /= np.linalg.norm(points, axis=1)[:, None]
    upper = np.triu(np.round(points @ points.T, 6), 1)
    quality = dice.uniform(0.36, 0.8, COUNT)
    quality[:garbage] = 0.1
    hotkeys = tuple(f"hk{i:04}" for i in range(COUNT))
    words = dice.integers(40, 80, COUNT)
    received = ReceivedAnswers(hotkeys, quality, words, (None,) * COUNT, upper + upper.T + np.eye(COUNT), np.eye(COUNT))
    return RoundInput(received, tuple(dice.uniform(1, 5, COUNT).tolist()), (None,) * COUNT, (None,) * COUNT, {})


@pytest.mark.parametrize(("offset", "garbage"), [(2.0, 0), (0.9, 0), (0.0, 0), (2.0, 300)])
def test_a_thousand_answers(offset: float, garbage: int) -> None:
    given, params = make_round(offset, garbage), InferenceParams()
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        format_judged(given, judge_round(given, params))
        best = min(best, time.process_time() - start)
        if best <= MOST_SECONDS:
            return
    pytest.fail(f"{best * 1e3:.0f} ms")
