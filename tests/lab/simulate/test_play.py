"""A season is played by the engine's own rules: what the lab reaches is what a journal of the same rounds reaches."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.weights.emissions import select_averages
from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.attack.catalogue import find_attacks
from weighbeam.lab.simulate.season import Crew, Season, play_season, play_seats, seat_miners
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.lab.simulate.worlds import make_world
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.inference.lab.world import InferenceWorld
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

SEASON = Season(rounds=6, weigh_every=3)


class Overheard(InferenceWorld):
    """Keeps what was observed."""

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.seen: list[tuple[Asked, Observation]] = []

    def observe(self, asked: Asked) -> Observation:
        observation = super().observe(asked)
        self.seen.append((asked, observation))
        return observation


@pytest.fixture(scope="module")
def world(senses: LocalSenses) -> Overheard:
    return Overheard({}, senses)


def say_nothing(world: World, turn: MinerTurn) -> SimulatedAnswer:
    return SimulatedAnswer({"text": "It depends."}, 0.1)


def test_a_seed_gives_the_same_season_and_another_seed_another(world: Overheard) -> None:
    first, again, other = (play_season(world, FixedStrategy(say_nothing), 2, seed, SEASON) for seed in (1, 1, 2))
    assert first == again
    assert first.earned != other.earned


def test_a_journal_of_the_same_rounds_reaches_the_same_averages(world: Overheard, tmp_path: Path) -> None:
    trial = play_season(world, FixedStrategy(say_nothing), 2, 5, SEASON)
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    mechanism, params = world.mechanism, world.params
    written = params.model_dump(mode="json")
    for number, (asked, observation) in enumerate(world.seen):
        hashed = hash_params(mechanism, params, observation.facts["senses"])
        at = asked.at or 0.0
        facts = RoundFacts(f"{number:06}", mechanism.name, written, hashed, asked.seed, number, at)
        journal.record(facts, asked, observation)
        journal.commit(f"{number:06}", mechanism)
    assert all(entry.fault is None for entry in replay(journal.store, load_mechanism))
    hotkeys = {answer.hotkey for asked, _ in world.seen for answer in asked.answers}
    now = SEASON.rounds * SEASON.seconds
    with journal.store.read() as connection:
        averages = select_averages(connection, mechanism.name, hotkeys, now, Averaging(), lookback=True)
    found = {hotkey.split("-", 1)[1].rsplit("-", 1)[0]: average.ema for hotkey, average in averages.items()}
    assert found == {name: trial.standing[name] for name in found}


def test_pay_adds_up_and_whoever_says_nothing_has_none(world: Overheard) -> None:
    trial = play_season(world, FixedStrategy(say_nothing), 2, 5, SEASON)
    assert sum(trial.earned.values()) == pytest.approx(SEASON.rounds // SEASON.weigh_every)
    assert [trial.earned[name] for name in sorted(trial.attackers)] == [0.0, 0.0]
    assert all(trial.signs[name] == tuple(range(trial.turns[name])) for name in trial.attackers)


class Fickle:
    """Changes its hotkey after every turn."""

    def __init__(self) -> None:
        self.hotkeys: list[str] = []

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        self.hotkeys.append(turn.hotkey)
        return world.answer(turn)

    def leaves(self, turns: int) -> bool:
        return turns == 1


def test_a_new_hotkey_inherits_nothing(world: Overheard) -> None:
    fickle = Fickle()
    trial = play_season(world, fickle, 1, 3, SEASON)
    assert len(set(fickle.hotkeys)) == len(fickle.hotkeys) == trial.turns["attacker-000"] > 1
    assert trial.earned["attacker-000"] == 0.0


def test_seats_are_drawn_and_skills_are_not() -> None:
    one, other = (seat_miners(5, [Crew("attacker", None, 2)], seed) for seed in (1, 2))
    assert [seat.who for seat in one] != [seat.who for seat in other]
    assert {seat.who for seat in one} == {seat.who for seat in other}
    assert not {seat.hotkey for seat in one} & {seat.hotkey for seat in other}


def test_crews_of_different_attacks_share_a_season(world: Overheard) -> None:
    crews = [Crew("mute", FixedStrategy(say_nothing), 1), Crew("fickle", Fickle(), 1), Crew("willing", None, 1)]
    trial = play_seats(world, seat_miners(world.honest, crews, 3), 3, SEASON)
    assert trial.attackers == {"mute-000", "fickle-000", "willing-000"}
    assert trial.earned["mute-000"] == 0.0 < trial.earned["willing-000"]


def test_honest_miners_are_ranked_by_skill_and_never_found_out(senses: LocalSenses) -> None:
    from weighbeam.lab.simulate.measure import measure

    world = InferenceWorld({}, senses)
    outcome = measure([play_season(world, None, 0, seed, Season(rounds=24)) for seed in (0, 1)])
    assert outcome.tau.value > 0.35
    assert outcome.false_positives.value == 0.0


def profit(names: Sequence[str], **params: object) -> float:
    from weighbeam.lab.simulate.measure import measure

    setting = TrialSetting(make_world, params, Season(rounds=16))
    (attack,) = find_attacks(list(names))
    return measure([attack.run(0, setting)]).profit.value


def test_copies_share_one_pay_and_earn_as_much_as_honest_work_without_that_rule() -> None:
    capped = profit(["inference/copycat"])
    uncapped = profit(["inference/copycat"], duplicate_min_words=1000)
    assert capped < 0.6 < 1 < uncapped


def test_worlds_are_kept_by_their_parameters() -> None:
    assert make_world("inference", {}) is make_world("inference", {})
    assert make_world("inference", {"max_miners": 5}) is not make_world("inference", {})
    assert replace(TrialSetting(make_world), params={"max_miners": 5}).season == Season()
