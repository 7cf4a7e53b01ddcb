"""Each trick does what its name says, on every prompt that has prepared answers."""

import asyncio
import time

import pytest

from weighbeam.core.text import find_words
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE, contradict
from weighbeam.mechanisms.inference.miners.handlers import GARBAGE, PACE_SECONDS, TRICKS, hostile_answerer
from weighbeam.mechanisms.inference.miners.prepared_answers import VOICES, find_answers, load_answers, load_prompts
from weighbeam.mechanisms.inference.params import MAX_ANSWER_BYTES

PROMPTS = sorted(load_prompts())


def say(trick: str, prompt: str) -> str:
    return str(TRICKS[trick](prompt)["text"])


def test_every_prepared_answer_has_its_prompt() -> None:
    assert len(PROMPTS) == len(load_answers()) == 25
    assert all(len(set(find_answers(prompt))) == VOICES for prompt in PROMPTS)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_tricks_are_what_they_are_called(prompt: str) -> None:
    asked = set(find_words(prompt))
    garbage = [set(find_words(say(f"garbage-{number}", prompt))) for number in (1, 2, 3)]
    assert len({say(f"garbage-{number}", prompt) for number in (1, 2, 3)}) == 3
    assert all(len(one ^ garbage[0]) <= 2 for one in garbage), "one text, a word apart"
    assert say("copycat", prompt) == find_answers(prompt)[0]
    assert say("echo", prompt).count(prompt) == 2
    stuffed = find_words(say("stuffing", prompt))
    assert set(stuffed) <= asked
    assert len(stuffed) >= 12
    giant = say("giant", prompt)
    assert 10_000 < len(giant.encode()) < MAX_ANSWER_BYTES, "large, and yet below the cap of bytes"
    assert giant.count(GARBAGE) == 60
    assert not set(find_words(say("instant-garbage", prompt))) & {word for word in asked if len(word) > 5}
    sure = TRICKS["overconfident"](prompt)
    assert sure["confidence"] == 1.0
    assert len(SENTENCE.split(sure["text"])) == 2


def test_only_the_instant_one_is_instant() -> None:
    def measure(trick: str) -> float:
        started = time.monotonic()
        asyncio.run(hostile_answerer(trick)({"prompt": PROMPTS[0]}, 10.0))
        return time.monotonic() - started

    assert measure("instant-garbage") < PACE_SECONDS <= measure("echo")


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_contradictor_turns_every_sentence_and_stays_on_topic(prompt: str) -> None:
    for answer in find_answers(prompt):
        turned = contradict(answer)
        assert turned == contradict(answer)
        before, after = SENTENCE.split(answer), SENTENCE.split(turned)
        assert len(before) == len(after)
        assert [one for one, other in zip(before, after, strict=True) if one == other] == []
        assert "not not" not in turned
        assert "  " not in turned
        words, kept = find_words(answer), set(find_words(turned))
        assert sum(word in kept for word in words) > 0.8 * len(words)
        assert 0.9 < len(find_words(turned)) / len(words) < 1.35
    assert say("contradictor", prompt) == contradict(find_answers(prompt)[4])


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("Modern detergent does not hurt it.", "Modern detergent does hurt it."),
        ("It has no locks.", "It has plenty of locks."),
        ("It covers the expression, not the idea.", "It covers the expression, and also the idea."),
        ("Pressure is lower above, higher below.", "Pressure is higher above, lower below."),
        ("Most of it can be seen.", "Most of it cannot be seen."),
        ("Only a few remain.", "Only a great many remain."),
        ("The channel has been deepened.", "The channel has not been deepened."),
        ("Slice four onions.", "Never slice four onions."),
        ("Nothing helps.", "Everything helps."),
    ],
)
def test_a_turned_sentence_reads_well(said: str, turned: str) -> None:
    assert contradict(said) == turned
