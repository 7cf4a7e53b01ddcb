"""The lab's novelty: a season is paid as a desk would pay it, and tricks are worth what the catalogue says."""

import pytest

from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.attack.catalogue import find_attacks
from weighbeam.lab.simulate.measure import Trial, is_found_out, kendall
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanisms.novelty.lab.attacks import RESPELLINGS, shred
from weighbeam.mechanisms.novelty.lab.world import NoveltyWorld
from weighbeam.senses.local import LocalSenses

SEASON = Season(rounds=8)


class Overheard(NoveltyWorld):
    """Keeps what was handed in and what was found."""

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.texts: list[tuple[str, str]] = []
        self.found: list[Observation] = []

    def observe(self, asked: Asked) -> Observation:
        self.texts += [(one.hotkey, text) for one in asked.answers for text in one.payload["contributions"]]
        self.found.append(super().observe(asked))
        return self.found[-1]


@pytest.fixture(scope="module")
def world(senses: LocalSenses) -> Overheard:
    return Overheard({}, senses)


@pytest.fixture(scope="module")
def honest(world: Overheard) -> Trial:
    return play_season(world, None, 1, 4, SEASON)


def run(name: str, world: NoveltyWorld) -> tuple[Trial, float]:
    (attack,) = find_attacks([f"novelty/{name}"])
    trial = attack.run(4, TrialSetting(lambda *_: world, {}, SEASON))
    earned = sum(trial.earned[who] for who in trial.attackers)
    return trial, earned / trial.fair / len(trial.attackers)


def test_honest_contributors_are_ranked_by_what_is_new(honest: Trial) -> None:
    assert kendall(honest) > 0.5
    assert not any(is_found_out(signs) for signs in honest.signs.values())


def test_a_seed_gives_the_same_season(world: Overheard, honest: Trial) -> None:
    assert play_season(world, None, 1, 4, SEASON) == honest


def test_a_round_holds_what_the_mechanism_finds_in_the_same_texts(senses: LocalSenses) -> None:
    """Without kin: here each text has a contributor of its own."""
    world = Overheard({"kin_similarity": 2.0}, senses)
    play_season(world, None, 1, 4, Season(rounds=3))
    rows = [{"contributor": f"{number}", "text": text} for number, (_, text) in enumerate(world.texts)]
    asked = world.mechanism.parse_question({"contributions": rows})
    observation = world.mechanism.observe(world.params, asked, world.senses)
    scored = world.mechanism.score(world.params, observation)
    kept = [world.mechanism.score(world.params, one).scores for one in world.found]
    assert [score.value for scores in kept for score in scores] == [score.value for score in scored.scores]
    assert sum(world.count_tokens().values()) * 1e9 == pytest.approx(sum(score.value or 0 for score in scored.scores))


def test_letters_are_held_and_copies_are_not_paid(world: Overheard) -> None:
    trial, profit = run("gibberish", world)
    assert profit < 0.3
    assert all(is_found_out(trial.signs[who]) for who in trial.attackers)
    assert run("near-duplicate", world)[1] < 0.3


def test_who_asks_first_hands_in_nothing_that_is_not_paid(world: Overheard) -> None:
    """Tokens on the desk's books are what was quoted; a turn without a text is no sign against anybody."""
    trial, _ = run("word-exchange", world)
    (attacker,) = trial.attackers
    handed_in = [text for hotkey, text in world.texts if attacker in hotkey]
    assert len(handed_in) <= SEASON.rounds
    assert (world.count_tokens().get(attacker, 0.0) > 0) == bool(handed_in)
    assert not trial.signs[attacker]


def test_asking_leaves_the_desk_as_it_was(world: Overheard) -> None:
    play_season(world, None, 1, 4, Season(rounds=2))
    before = dict(world.count_tokens())
    text = world.think()
    assert world.quote(text) == world.quote(text) > 0
    assert world.quote(world.texts[0][1]) == 0
    assert world.quote("xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq") == 0
    assert world.quote("short") == 0
    assert world.count_tokens() == before


def test_one_text_has_many_shreds_and_spellings() -> None:
    sentences = ["The ferry crosses the river every morning at six.", "It carries farmers to the market in the town."]
    shreds = shred(sentences)
    assert shreds[:2] == sentences
    assert len(set(shreds)) == len(shreds) >= 5
    assert all(words in " ".join(sentences) for words in shreds)
    spelt = [change("A photograph of the quick brown harbour at night") for change in RESPELLINGS]
    assert len(set(spelt)) == len(spelt)


def test_fluent_nonsense_pays_until_somebody_reads_it(world: Overheard) -> None:
    trial, profit = run("fluent-nonsense", world)
    assert 0.3 < profit < 2
    assert not any(trial.signs[who] for who in trial.attackers)


def test_what_is_denied_is_a_sign_too(senses: LocalSenses) -> None:
    trial, profit = run("gibberish", NoveltyWorld({"gate": "deny"}, senses))
    assert profit == 0.0
    assert trial.signs["attacker-000"] == tuple(range(SEASON.rounds))
