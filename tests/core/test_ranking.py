"""Places and weights: ties share, order never decides, nothing is lost."""

import math

from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.stats import normalise, order_standings, place_values, share_geometric, to_u16

values = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9]) | st.floats(-5, 5), max_size=30)


@given(values)
def test_average_places_keep_their_sum(rewards: list[float]) -> None:
    places = place_values(rewards)
    assert sum(places) == len(rewards) * (len(rewards) - 1) / 2
    for a, place_a in zip(rewards, places, strict=True):
        for b, place_b in zip(rewards, places, strict=True):
            assert (a > b) == (place_a < place_b)


@given(values)
def test_best_places_are_never_worse_than_average_ones(rewards: list[float]) -> None:
    both = zip(place_values(rewards, "best"), place_values(rewards, "average"), strict=True)
    assert all(best <= average for best, average in both)


@given(values, st.floats(0.05, 0.95))
def test_shared_weights_keep_the_sum_of_the_curve(scores: list[float], curve: float) -> None:
    raw = share_geometric(scores, curve)
    assert math.isclose(sum(raw), sum(curve**i for i in range(len(scores))), rel_tol=1e-12)
    weights = normalise(raw)
    assert not weights or math.isclose(sum(weights), 1.0, rel_tol=1e-12)
    assert max(to_u16(raw), default=65535) == 65535


@given(st.dictionaries(st.text(), st.none() | st.sampled_from([0.0, 1.0, -1.0]), max_size=9), st.integers())
def test_standings_order_does_not_depend_on_where_a_miner_is_listed(scores, seed: int) -> None:
    backwards = dict(reversed(list(scores.items())))
    assert order_standings(scores, seed) == order_standings(backwards, seed)
