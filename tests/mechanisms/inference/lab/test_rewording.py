"""The control beside attacks that reword: a right answer in one sentence is paid nearly like longer ones."""

from weighbeam.core.text import split_sentences
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.world import FixedStrategy
from weighbeam.mechanisms.inference.lab.rewording import load_renderings, reword, say_briefly
from weighbeam.mechanisms.inference.lab.world import InferenceWorld, load_graded
from weighbeam.senses.local import LocalSenses

MOST_WORDS = 45


def test_every_prompt_has_one_sentence_and_one_translation() -> None:
    assert load_renderings().keys() == load_graded().keys()
    for row in load_renderings().values():
        assert len(split_sentences(row["brief"])) == 1
        assert len(row["brief"].split()) <= MOST_WORDS
        assert row["german"] == row["german"].strip()


def test_rewording_changes_every_good_answer() -> None:
    for answers in load_graded().values():
        assert reword(answers[0].text) != answers[0].text


def test_one_right_sentence_earns_nearly_as_much_as_an_honest_miner(senses: LocalSenses) -> None:
    world = InferenceWorld({}, senses)
    trials = [play_season(world, FixedStrategy(say_briefly), 1, seed, Season(rounds=16)) for seed in range(3)]
    earned = sum(trial.earned[name] for trial in trials for name in trial.attackers)
    assert earned >= 0.9 * sum(trial.fair for trial in trials)
    assert not any(trial.signs[name] for trial in trials for name in trial.attackers)
