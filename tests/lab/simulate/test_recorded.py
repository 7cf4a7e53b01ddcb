"""Seasons of recorded rounds: the journal's own observations, drawn again."""

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.lab.simulate.luck import weigh_luck
from weighbeam.lab.simulate.recorded import RecordedWorld
from weighbeam.lab.simulate.season import Season, play_seats
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CHUNKING = Chunking()


@pytest.fixture(scope="module")
def store(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A journal of the mechanism's own examples, twice each."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('recorded') / 'journal.db'}")
    journal, params = Journal(store), make_params(CHUNKING)
    for number, asked in enumerate([*CHUNKING.examples()] * 2):
        observation = CHUNKING.observe(params, asked, senses)
        hashed = hash_params(CHUNKING, params, observation.facts["senses"])
        written = params.model_dump(mode="json")
        facts = RoundFacts(f"round-{number}", "chunking", written, hashed, asked.seed, number, 1000.0 + number)
        journal.record(facts, asked, observation)
        journal.commit(f"round-{number}", CHUNKING)
    return store


def test_a_season_of_recorded_rounds_pays_the_recorded_miners(store: Store) -> None:
    world = RecordedWorld(store, CHUNKING, {})
    trials = [play_seats(world, world.seat_all(), seed, Season(rounds=40)) for seed in range(4)]
    luck = weigh_luck(trials)
    assert luck.agreement is not None
    assert 0 < luck.agreement <= 1
    assert sum(lot.share.value for lot in luck.lots) == pytest.approx(1)
    best = luck.lots[0]
    assert best.best <= best.place <= best.worst
    assert best.name in {"copy", "paragraphs"}
    again = [play_seats(world, world.seat_all(), seed, Season(rounds=40)) for seed in range(4)]
    assert again == trials


def test_other_parameters_are_applied_to_the_same_rounds(store: Store) -> None:
    flat, steep = (RecordedWorld(store, CHUNKING, {"curve": curve}) for curve in (0.99, 0.1))
    limit = [max(play_seats(world, world.seat_all(), 0, Season(rounds=20)).earned.values()) for world in (flat, steep)]
    assert limit[0] < limit[1]


def test_what_cannot_be_drawn_again_is_refused(store: Store) -> None:
    with pytest.raises(WeighbeamError, match="not_drawn"):
        RecordedWorld(store, Novelty(), {})
