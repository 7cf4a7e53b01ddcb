"""Groups, places, standings and weights: the properties that decide who is paid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.mechanism.records import Score, Scored, Standing
from weighbeam.mechanisms.chunking.groups import choose_group, draw_group, form_groups
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.score import JudgedChunking, rank_answers
from weighbeam.mechanisms.chunking.stand import PlacedMiner, apply_round

results = st.lists(
    st.builds(JudgedChunking, st.just("valid"), st.sampled_from([-0.5, 0.0, 0.25, 0.5]), st.floats(0, 9))
    | st.just(JudgedChunking("failed", 0.0))
    | st.just(JudgedChunking("unscored", None)),
    max_size=12,
)


@pytest.mark.parametrize("group_size", [1, 2, 3, 4, 5, 24, 25])
def test_every_miner_is_in_a_group_for_every_n_up_to_300(group_size: int) -> None:
    for count in range(1, 301):
        groups = form_groups([f"m{i}" for i in range(count)], group_size)
        times = [0] * count
        for start, stop in groups.ranges:
            assert stop - start == min(count, group_size)
            for rank in range(start, stop):
                times[rank] += 1
        assert min(times) >= 1
        assert max(times) <= 3
        tail = groups.ranges[-1][0] if len(groups.ranges) > 1 else count
        assert max(times[:tail], default=1) <= 2


@given(st.integers(1, 120), st.integers(1, 30), st.text(), st.data())
def test_a_named_miner_is_always_asked_in_its_group(count: int, size: int, seed: str, data: st.DataObject) -> None:
    ranking = [f"m{i}" for i in range(count)]
    named = data.draw(st.sampled_from(ranking))
    group = choose_group(ranking, size, "start", seed, [named, "nobody"])
    assert named in group.members
    assert group.unknown == ("nobody",)
    assert group.extra == ()


def test_every_group_is_drawn_by_some_seed() -> None:
    groups = form_groups([f"m{i}" for i in range(60)], 25)
    drawn = {draw_group(groups, seed) for seed in range(200)}
    assert drawn == set(range(len(groups.ranges)))


def test_nobody_to_ask_is_no_round() -> None:
    assert choose_group([], 25, "start", "s", ["x"]).members == ()


@given(results)
def test_places_never_depend_on_position_and_failing_is_always_last(given_results: list[JudgedChunking]) -> None:
    ranked = rank_answers(given_results, "average")
    backwards = rank_answers(given_results[::-1], "average")
    assert ranked.places == backwards.places[::-1]
    for result, place in zip(given_results, ranked.places, strict=True):
        if result.status == "failed":
            assert place == ranked.judged - 1
        assert (place is None) == (result.status == "unscored")
    twins = [(r.reward, p) for r, p in zip(given_results, ranked.places, strict=True) if r.status == "valid"]
    assert len(dict(twins)) == len(set(twins))


@given(st.floats(0, 50), st.floats(0, 50), st.sampled_from([0.0, 3.0, 13.0]))
def test_failing_never_improves_a_score(score: float, place: float, base: float) -> None:
    after = apply_round({"a": score}, [PlacedMiner("a", "failed", place)], base, ChunkingParams())
    assert after["a"] is not None
    assert after["a"] >= score


@given(st.lists(st.none() | st.floats(0, 30), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_results_never_decides_a_standing(scores: list[float | None], random) -> None:
    before = {f"m{i}": score for i, score in enumerate(scores)}
    placed = [PlacedMiner(hotkey, "valid", float(i)) for i, hotkey in enumerate(before)]
    shuffled = random.sample(placed, len(placed))
    params = ChunkingParams()
    assert apply_round(before, placed, 0, params) == apply_round(before, shuffled, 0, params)


def test_unranked_rounds_touch_no_standing() -> None:
    scored = Scored((Score("a", "valid", 0.5),), {"ranked": False, "places": {"a": 0.0}})
    before = (Standing("a", 4.0),)
    assert Chunking().stand(ChunkingParams(), before, scored) == before


def test_wanted_miners_outside_the_group_are_scored_but_not_ranked() -> None:
    summary = {"ranked": True, "places": {"a": 0.0}, "base": 0.0, "group": 0, "groups": 1}
    scored = Scored((Score("a", "valid", 0.1), Score("extra", "valid", 0.9)), summary)
    after = Chunking().stand(ChunkingParams(), (Standing("extra", 7.0),), scored)
    assert {standing.hotkey: standing.value for standing in after}["extra"] == 7.0


def test_a_season_puts_the_better_miners_on_top() -> None:
    mechanism, params = Chunking(), ChunkingParams(group_size=6)
    miners = [f"m{i:02d}" for i in range(20)]
    standings: tuple[Standing, ...] = ()
    for turn in range(400):
        group = mechanism.choose(params, standings, miners, f"round-{turn}")
        ranked = rank_answers([JudgedChunking("valid", -float(hotkey[1:])) for hotkey in group.members], "average")
        summary = {
            "ranked": True,
            "places": dict(zip(group.members, ranked.places, strict=True)),
            "base": group.base,
            "group": group.index,
            "groups": group.count,
        }
        scores = tuple(Score(hotkey, "valid", 0.0) for hotkey in group.members)
        standings = mechanism.stand(params, standings, Scored(scores, summary))
    raw = mechanism.weigh(params, standings, set(miners)).raw
    order = sorted(raw, key=lambda hotkey: -raw[hotkey])
    assert order[:3] == miners[:3]
    assert raw["m00"] == 1.0


def test_a_tie_of_thousands_halves_alpha_to_nothing_and_no_further() -> None:
    crowd = [PlacedMiner(f"m{i}", "valid", 0.0) for i in range(3000)]
    after = apply_round({"m0": 5.0}, crowd, 0, ChunkingParams(tie_alpha="halve"))
    assert after["m0"] == 5.0
