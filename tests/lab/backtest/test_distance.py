"""How far two sets of weights are apart."""

import math
import random

from weighbeam.lab.backtest.weigh_ins import measure_distance


def test_the_distance_is_the_exact_sum_whatever_the_order_of_hotkeys() -> None:
    values = [0.1] * 10
    assert sum(values) != 1.0, "a plain sum would do, and the test could not fail"
    hotkeys = [f"miner-{number}" for number in range(10)]
    random.Random(7).shuffle(hotkeys)
    one = dict(zip(hotkeys, values, strict=True))
    assert measure_distance(one, dict.fromkeys(hotkeys, 0.0)) == math.fsum(values) / 2 == 0.5
