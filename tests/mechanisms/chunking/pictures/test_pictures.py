"""Pictures of chunking show what is so: steps end at the reward, a border's gain is the difference it makes."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.charts.picture import dress_spec
from weighbeam.charts.render import render_svg
from weighbeam.core.quantise import unit_millionths
from weighbeam.core.similarity import one_family
from weighbeam.mechanism.page import BoardLine, StandingsBoard
from weighbeam.mechanism.records import Observation
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.pictures.answer import draw_answer, list_steps
from weighbeam.mechanisms.chunking.pictures.board import draw_board, find_groups, list_places
from weighbeam.mechanisms.chunking.pictures.borders import find_answer, join_lengths, list_segments, measure_borders
from weighbeam.mechanisms.chunking.reward import compare_segments, reward_chunking
from weighbeam.mechanisms.chunking.score import score_round
from weighbeam.senses.local import LocalSenses

CHUNKING = Chunking()
shapes = st.sampled_from(["signed", "literal", "exp"])


def make_observation(sizes: list[int], sampled_every: int, seconds: float, seed: int) -> Observation:
    """One tiled answer whose chunks have so many segments each, of 40 characters; some are sampled, some not."""
    rng = np.random.default_rng(seed)
    segments = [[chunk, number] for number, chunk in enumerate(np.repeat(range(len(sizes)), sizes).tolist())]
    sampled = [number for number in range(len(segments)) if number % sampled_every == 0]
    ends = np.cumsum([0, *(40 * size for size in sizes)]).tolist()
    spans = [[start, stop] if stop > start else None for start, stop in pairwise(ends)]
    check = {"ok": True, "spans": spans, "exact": [True] * len(sizes), "failure": None}
    answer = {
        "check": check,
        "segments": segments,
        "sampled": sampled,
        "lengths": [40 * size for size in sizes],
        "chunks": [],
    }
    facts = {
        "task": {"chunk_size": 100, "chunk_qty": 4, "time_soft_max": 3.75, "ranked": True},
        "texts": [""] * len(segments),
        "embedded": sampled,
        "missing": [],
        "answers": [answer],
        "miners": [{"hotkey": "a", "answer": 0, "seconds": seconds, "status": "ok"}],
        "group": {"extra": [], "base": 0.0, "index": 0, "count": 1},
    }
    vectors = unit_millionths(rng.normal(size=(len(sampled), 6)) + 0.3)
    return Observation(facts, {"vectors": vectors})


rounds = st.builds(
    make_observation,
    st.lists(st.integers(0, 4), min_size=1, max_size=7).filter(any),
    st.integers(1, 3),
    st.sampled_from([0.0, 5.0]),
    st.integers(0, 1000),
)


def join_chunks(observation: Observation, before: int, after: int) -> tuple[list[int], list[int]]:
    """The chunk of each sampled segment, and the lengths, of the answer whose chunks in between are one."""
    answer = observation.facts["answers"][0]
    lengths = answer["lengths"]
    joined = [*lengths[:before], sum(lengths[before : after + 1]), *lengths[after + 1 :]]
    chunks = [answer["segments"][number][0] for number in answer["sampled"]]
    moved = [min(chunk, before) if chunk <= after else chunk - (after - before) for chunk in chunks]
    return moved, joined


@settings(max_examples=60)
@given(rounds, shapes)
def test_a_gain_is_the_difference_that_the_border_makes(observation: Observation, shape) -> None:
    params = ChunkingParams(shape=shape)
    answer, task = observation.facts["answers"][0], observation.facts["task"]
    segments = list_segments(observation, answer)
    assert segments is not None
    score = score_round(params, observation).scores[0]
    whole = score.value
    assert whole is not None
    assert score.parts is not None
    gains = measure_borders(params, observation, "a", segments, score.parts)
    assert len(gains) == len(segments.runs) - 1
    for one in gains:
        chunk_of, lengths = join_chunks(observation, one.before, one.after)
        vectors = observation.arrays["vectors"]
        similarity = compare_segments(vectors, one_family(np.array(chunk_of), len(lengths)))[0]
        seconds = observation.facts["miners"][0]["seconds"]
        again, _ = reward_chunking(similarity, lengths, task["chunk_size"], task["chunk_qty"], seconds, 3.75, params)
        assert one.reward == again
        assert one.gain == whole - again
        largest = max(map(abs, (one.gain, one.meaning, one.limits)))
        assert math.isclose(one.meaning + one.limits, one.gain, abs_tol=1e-9 * largest)


@settings(max_examples=60)
@given(rounds, shapes, st.floats(0, 1000))
def test_steps_follow_each_other_and_end_at_the_reward(observation: Observation, shape, cap: float) -> None:
    params = ChunkingParams(shape=shape, max_exponent=cap)
    score = score_round(params, observation).scores[0]
    assert score.parts is not None
    assert score.value is not None
    steps = list_steps(params, score.parts, score.value)
    assert "other parts" not in [step.label for step in steps]
    at = 0.0
    for step in steps:
        assert (step.start, step.stop) == (0.0, pytest.approx(at, rel=1e-9)) if step.total else step.start == at
        at = step.stop if not step.total else at
    assert steps[-1].stop == score.value
    assert math.isclose(sum(step.change for step in steps if not step.total), score.value, rel_tol=1e-6, abs_tol=1e-12)


@settings(max_examples=60)
@given(rounds, shapes, st.floats(0, 1), st.floats(0, 1))
def test_retrieval_is_a_step_and_stays_where_a_border_goes(
    observation: Observation, shape, weight: float, found: float
) -> None:
    params = ChunkingParams(shape=shape, retrieval_share=1.0, retrieval_weight=weight)
    task, answer = observation.facts["task"], observation.facts["answers"][0]
    seconds, segments = observation.facts["miners"][0]["seconds"], list_segments(observation, answer)
    assert segments is not None

    def judge(chunk_of: list[int], lengths: list[int]) -> tuple[float, dict[str, Any]]:
        [alike] = compare_segments(observation.arrays["vectors"], one_family(np.array(chunk_of), len(lengths)))
        return reward_chunking(alike, lengths, task["chunk_size"], task["chunk_qty"], seconds, 3.75, params, found)

    whole, parts = judge(segments.chunk_of.tolist(), answer["lengths"])
    steps = {step.label: step for step in list_steps(params, parts, whole)}
    assert "other parts" not in steps
    assert steps["retrieval"].start == parts["similarity"]
    assert steps["retrieval"].change == pytest.approx(weight * (found - parts["similarity"]), abs=1e-9)
    assert steps["reward"].stop == whole
    for one in measure_borders(params, observation, "a", segments, parts):
        again, _ = judge(*join_chunks(observation, one.before, one.after))
        assert (one.reward, one.gain) == (again, whole - again)


def test_hidden_questions_of_a_real_round_are_drawn(senses: LocalSenses) -> None:
    params, asked = ChunkingParams(retrieval_share=1.0), CHUNKING.examples()[0]
    asked = replace(asked, task=CHUNKING.finish_task(params, asked.task, "questions"))
    observation = CHUNKING.observe(params, asked, senses)
    scored = CHUNKING.score(params, observation)
    best = next(score for score in scored.scores if score.status == "valid")
    waterfall = draw_answer(params, observation, scored, best.hotkey)[0]
    labels = [row[0] for row in waterfall.rows]
    assert labels[2:5] == ["similarity", "retrieval", "both, mixed"]
    assert "other parts" not in labels
    assert "hidden questions" in waterfall.about
    assert "retrieval" in render_svg(dress_spec(waterfall.spec, 700))


def test_a_part_that_the_steps_do_not_know_is_a_step_of_its_own() -> None:
    params = ChunkingParams()
    score = score_round(params, make_observation([2, 2], 1, 0.0, 1)).scores[0]
    assert score.parts is not None
    assert score.value is not None
    steps = list_steps(params, score.parts, score.value / 2)
    assert [step.label for step in steps][-2:] == ["other parts", "reward"]
    assert steps[-2].stop == steps[-1].stop == score.value / 2


def test_joined_chunks_count_what_they_share_once() -> None:
    answer = {"check": {"spans": [[0, 10], [8, 20], None]}, "lengths": [10, 12, 1]}
    assert join_lengths(answer, [0, 1]) == 20
    assert join_lengths(answer, [1, 2]) == 13


def test_a_round_of_real_answers_is_drawn(senses: LocalSenses) -> None:
    params, asked = ChunkingParams(), CHUNKING.examples()[0]
    observation = CHUNKING.observe(params, asked, senses)
    scored = CHUNKING.score(params, observation)
    by_status = {score.hotkey: score.status for score in scored.scores}
    for hotkey, status in by_status.items():
        drawn = draw_answer(params, observation, scored, hotkey)
        assert bool(drawn) == (status == "valid")
    steps, matrix = draw_answer(params, observation, scored, "paragraphs")
    segments = list_segments(observation, find_answer(observation, "paragraphs")[1])
    assert segments is not None
    assert len(matrix.rows) == len(segments.runs) - 1
    [cells] = matrix.spec["datasets"]["cells"]
    assert len(cells["v"]) == len(segments.chunk_of) ** 2
    assert ">within chunks<" in render_svg(dress_spec(steps.spec, 560))


def test_the_matrix_of_a_long_answer_stays_small() -> None:
    observation = make_observation([40] * 75, 1, 0.0, 3)
    params = ChunkingParams(num_embeddings=None)
    scored = score_round(params, observation)
    _, matrix = draw_answer(params, observation, scored, "a")
    assert len(json.dumps(matrix.spec)) < 60_000
    assert len(matrix.rows) == 74


def test_a_missing_vector_leaves_nothing_to_draw() -> None:
    observation = make_observation([2, 2], 1, 0.0, 3)
    spoilt = replace(observation, facts={**observation.facts, "missing": [0]})
    assert list_segments(spoilt, spoilt.facts["answers"][0]) is None
    assert draw_answer(ChunkingParams(), spoilt, score_round(ChunkingParams(), spoilt), "a") == ()


def make_board(count: int, **more) -> StandingsBoard:
    return StandingsBoard([BoardLine(f"miner {number}", float(number)) for number in range(count)], **more)


def test_twelve_miners_are_in_groups_of_four() -> None:
    asked = [f"miner {number}" for number in range(4, 8)]
    board = make_board(12, round="r", asked=asked, summary={"group": 2, "groups": 5})
    groups = find_groups(ChunkingParams(group_size=4), board)
    assert groups.ranges == ((0, 4), (2, 6), (4, 8), (6, 10), (8, 12))
    assert groups.chosen == 2
    picture = draw_board(ChunkingParams(group_size=4), board)[0]
    assert [row[3] for row in picture.rows] == ["no"] * 4 + ["yes"] * 4 + ["no"] * 4
    assert [row["rank"] for row in picture.spec["datasets"]["asked"]] == [5, 6, 7, 8]


def test_the_curve_halves_and_equals_share() -> None:
    places = list_places(ChunkingParams(), make_board(5))
    assert [round(one.share * 31) for one in places] == [16, 8, 4, 2, 1]
    lines = [
        BoardLine("a", 0.0),
        BoardLine("b", 0.0),
        BoardLine("c", 3.0),
        BoardLine("d", None),
        BoardLine("e", 1, False),
    ]
    shared = list_places(ChunkingParams(), StandingsBoard(lines))
    assert [one.hotkey for one in shared] == ["a", "b", "c"]
    assert shared[0].share == shared[1].share == (shared[0].curve + shared[1].curve) / 2
    assert math.isclose(sum(one.share for one in shared), 1.0)


def test_many_miners_and_none_can_be_drawn() -> None:
    assert draw_board(ChunkingParams(), make_board(0)) == ()
    groups, pay = draw_board(ChunkingParams(), make_board(256))
    assert len(groups.spec["datasets"]["groups"]) == 19
    assert len(pay.rows) == 17
    assert render_svg(dress_spec(groups.spec, 330)).count("<path") > 19


def test_miners_are_called_by_their_names() -> None:
    groups, pay = draw_board(ChunkingParams(), make_board(3, names={"miner 1": "ada"}))
    assert [row[1] for row in groups.rows] == ["miner 0", "ada", "miner 2"]
    assert [row["miner"] for row in pay.spec["datasets"]["places"]] == ["miner 0", "ada", "miner 2"]


def test_a_hostile_name_stays_data() -> None:
    name = "</script><b>'+x\u202e"
    lines = [BoardLine(name, 0.0), BoardLine("b", 1.0)]
    boards = (
        StandingsBoard(lines, name, [name], {"group": "x"}),
        StandingsBoard(lines, name, [name], {"group": "x"}, {"b": name}),
    )
    for picture in (one for board in boards for one in draw_board(ChunkingParams(), board)):
        svg = render_svg(dress_spec(picture.spec, 330))
        assert "<b>" not in svg
        assert "\u202e" not in json.dumps([*picture.rows, picture.spec, picture.about], ensure_ascii=False)
