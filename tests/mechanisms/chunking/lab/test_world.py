"""The lab's chunking: ranks find out who cuts well, and tricks are worth what the catalogue says."""

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.attack.catalogue import find_attacks
from weighbeam.lab.simulate.measure import Trial, is_found_out, kendall
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.worlds import make_world
from weighbeam.mechanisms.chunking.lab.world import CHUNK_QTY, CHUNK_SIZE, ChunkingWorld, cut_with_skill, make_documents
from weighbeam.senses.local import LocalSenses

SEASON = Season(rounds=8, weigh_every=2)


@pytest.fixture(scope="module")
def world(senses: LocalSenses) -> ChunkingWorld:
    """All in one group and with one document: what is embedded for the first time takes long."""
    world = ChunkingWorld({"group_size": 100}, senses)
    world.documents = world.documents[:1]
    return world


@pytest.fixture(scope="module")
def honest(world: ChunkingWorld) -> Trial:
    return play_season(world, None, 1, 4, SEASON)


def run(name: str, world: ChunkingWorld) -> Trial:
    (attack,) = find_attacks([f"chunking/{name}"])
    return attack.run(4, TrialSetting(lambda *_: world, {}, SEASON))


def test_every_cut_keeps_the_document_and_its_limits(senses: LocalSenses) -> None:
    for number, known in enumerate(make_documents(senses)):
        for skill in (0.0, 0.5, 1.0):
            chunks = cut_with_skill(known, skill, np.random.default_rng(number))
            assert "".join(chunks) == known.text
            assert len(chunks) <= CHUNK_QTY
            assert max(map(len, chunks)) <= CHUNK_SIZE
            assert chunks != known.cut(known.topics)


def test_honest_miners_are_ranked_by_skill_and_hardly_ever_found_out(honest: Trial) -> None:
    assert kendall(honest) > 0.3
    assert sum(map(is_found_out, honest.signs.values())) <= 0.05 * len(honest.signs)
    assert sum(honest.earned.values()) == pytest.approx(SEASON.rounds // SEASON.weigh_every)


def test_a_seed_gives_the_same_season(world: ChunkingWorld) -> None:
    first, again, other = (play_season(world, None, 1, seed, Season(rounds=1, weigh_every=1)) for seed in (4, 4, 5))
    assert first == again
    assert first.earned != other.earned


def test_there_are_groups_to_hide_in(senses: LocalSenses) -> None:
    world = ChunkingWorld({}, senses)
    hotkeys = [f"hotkey-{number}" for number in range(world.honest + 1)]
    assert world.choose((), hotkeys, "any").count == 3


def test_who_cuts_blindly_earns_next_to_nothing(world: ChunkingWorld) -> None:
    trial = run("immunity-recycling", world)
    assert sum(trial.earned[who] for who in trial.attackers) < 0.1 * trial.fair


def test_who_knows_the_measure_stands_above_its_equals(world: ChunkingWorld) -> None:
    trial = run("metric-climbing", world)
    equals = [trial.standing[who] for who, skill in trial.skill.items() if abs(skill - 0.5) < 0.1]
    assert trial.standing["attacker-000"] > sum(equals) / len(equals)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(WeighbeamError, match="no_such"):
        make_world("chunking", {"no_such": 1})
