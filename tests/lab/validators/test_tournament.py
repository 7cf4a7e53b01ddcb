"""Many validators at once stand where the mechanism's own functions put them, one by one."""

import math

import numpy as np
import pytest
from benchmarks.solo_tournament import SoloTournament
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.mechanism.records import Standing
from weighbeam.mechanisms.chunking.lab.tournament import Tournament
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.score import JudgedChunking, rank_answers
from weighbeam.mechanisms.chunking.stand import PlacedMiner, apply_round

STATUSES = ("valid", "failed", "unscored")
params = st.builds(
    ChunkingParams,
    group_size=st.integers(1, 12),
    ties=st.sampled_from(["average", "best"]),
    alpha=st.sampled_from([0.15, 1.0, 0.3]),
    rank_values=st.sampled_from(["start", "overlap"]),
    alpha_min=st.sampled_from([None, 0.05, 0.4]),
    tie_alpha=st.sampled_from(["none", "halve", "divide"]),
)


def as_column(score: float | None) -> float:
    return math.nan if score is None else score


def play_both(
    params: ChunkingParams, start: list[list[float | None]], rounds: int, chance: np.random.Generator
) -> None:
    """The same rounds both ways; ties of standings and of rewards are common."""
    validators, miners = len(start), len(start[0])
    hotkeys = [f"m{i:03}" for i in range(miners)]
    many = Tournament(hotkeys, validators, params)
    many.scores[:] = [[as_column(score) for score in row] for row in start]
    single = [dict(zip(hotkeys, row, strict=True)) for row in start]
    for number in range(rounds):
        seeds = [f"{number}/{validator}" for validator in range(validators)]
        drawn = many.choose(seeds)
        rewards = chance.choice([-0.5, 0.0, 0.25, 0.5, chance.random()], drawn.members.shape)
        statuses = chance.choice([0, 0, 0, 1, 2], drawn.members.shape).astype(np.int8) * (number % 3 > 0)
        many.stand(drawn, rewards, statuses)
        for validator, scores in enumerate(single):
            standings = [Standing(hotkey, score) for hotkey, score in scores.items()]
            group = Chunking().choose(params, standings, hotkeys, seeds[validator])
            assert [hotkeys[column] for column in drawn.members[validator]] == list(group.members)
            assert (drawn.index[validator], drawn.count, drawn.base[validator]) == (
                group.index,
                group.count,
                group.base,
            )
            results = [
                JudgedChunking(STATUSES[status], reward if status == 0 else 0.0 if status == 1 else None)
                for status, reward in zip(statuses[validator].tolist(), rewards[validator].tolist(), strict=True)
            ]
            places = rank_answers(results, params.ties).places
            both = zip(group.members, results, places, strict=True)
            placed = [PlacedMiner(hotkey, result.status, place) for hotkey, result, place in both]
            single[validator] = apply_round(scores, placed, group.base, params, group.index, group.count)
            expected = np.array([as_column(score) for score in single[validator].values()])
            assert many.scores[validator].tobytes() == expected.tobytes()


@settings(max_examples=80, deadline=None)
@given(
    params,
    st.integers(1, 40),
    st.lists(st.sampled_from([None, None, 0.0, 1.0, -1.0, 2.5]), min_size=80, max_size=80),
    st.integers(0, 2**32),
)
def test_a_few_rounds_from_any_standings(
    params: ChunkingParams, miners: int, start: list[float | None], seed: int
) -> None:
    play_both(params, [start[:miners], start[-miners:]], 4, np.random.default_rng(seed))


@pytest.mark.parametrize("tie_alpha", ["none", "halve", "divide"])
def test_a_season_of_256_miners(tie_alpha: str) -> None:
    season = ChunkingParams(tie_alpha=tie_alpha, alpha_min=0.1 if tie_alpha == "halve" else None)
    play_both(season, [[None] * 256] * 2, 60, np.random.default_rng(5))


@settings(max_examples=60, deadline=None)
@given(params, st.integers(1, 40), st.integers(0, 2**32))
def test_one_validator_in_lists_stands_as_in_arrays(params: ChunkingParams, miners: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    hotkeys = [f"m{i:03}" for i in range(miners)]
    many, solo = Tournament(hotkeys, 1, params), SoloTournament(hotkeys, params)
    for number in range(12):
        drawn, turn = many.choose([number]), solo.choose(number)
        assert (drawn.members[0].tolist(), drawn.index[0], drawn.base[0]) == (turn.members, turn.index, turn.base)
        rewards = chance.choice([0.0, 0.25, 0.5, chance.random()], drawn.members.shape)
        statuses = chance.choice([0, 0, 0, 1, 2], drawn.members.shape).astype(np.int8)
        many.stand(drawn, rewards, statuses)
        solo.stand(turn, rewards[0].tolist(), statuses[0].tolist())
        assert many.scores[0].tobytes() == solo.scores.tobytes()
