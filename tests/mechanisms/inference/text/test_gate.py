"""What the gate stops where answers are read by kind, and honest answers that look like it."""

import pytest

from weighbeam.mechanism.params import make_params
from weighbeam.mechanisms.inference.lab.world import load_graded
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.prepared_answers import load_answers, load_prompts
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.senses.local import LocalSenses

INFERENCE = Inference()
PROMPTS = {name: prompt for prompt, name in load_prompts().items()}
SKY = "why-sky-is-blue"
MONTHS = "January, February, March, April, May, June, July, August, September, October, November, December"


def find_reasons(prompt: str, texts: list[str], senses: LocalSenses) -> list[tuple[str, ...]]:
    """Of each text of a round, in their order."""
    rows = [{"hotkey": f"{at:02}", "text": text, "seconds": 2.0} for at, text in enumerate(texts)]
    asked = INFERENCE.parse_question({"prompt": prompt, "answers": rows})
    params = make_params(INFERENCE)
    qualities = replay_round(params, INFERENCE.observe(params, asked, senses)).qualities
    return [qualities[hotkey].reasons for hotkey in sorted(qualities)]


def list_honest() -> list[str]:
    return [*load_answers()[SKY], *(answer.text for answer in load_graded()[SKY][:3])]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"You asked: {PROMPTS[SKY]} The answer to that is as follows. {PROMPTS[SKY]}", "echo"),
        ("The sky is up there.", "thin"),
        ("The sky is blue in the day and red at sunset, as it should be and as everybody can see.", "thin"),
    ],
)
def test_next_to_nothing_beside_answers_that_say_much(text: str, reason: str, senses: LocalSenses) -> None:
    *others, found = find_reasons(PROMPTS[SKY], [*list_honest(), text], senses)
    assert found == (reason,)
    assert not any(others)


@pytest.mark.parametrize("text", ["Rayleigh scattering.", "It is because of Rayleigh scattering.", "By scattering."])
def test_a_word_that_most_others_say_too_is_an_answer(text: str, senses: LocalSenses) -> None:
    assert find_reasons(PROMPTS[SKY], [*list_honest(), text], senses)[-1] == ()


def test_complete_lists_are_not_gathered_from_each_other(senses: LocalSenses) -> None:
    numbered = "\n".join(f"{number}. {month}" for number, month in enumerate(MONTHS.split(", "), start=1))
    texts = [MONTHS, f"The months are {MONTHS}.", f"They are: {MONTHS}!", f"The twelve are {MONTHS}", numbered]
    assert not any(find_reasons("Name the months of the year.", texts, senses))


def test_a_decoy_does_not_hide_what_was_gathered(senses: LocalSenses) -> None:
    """Hundreds of words that nobody else has make all words of all others many more."""
    decoy = " ".join(f"{one}{other}{one}el" for one in "bdfgklmnprst" for other in "aeiou" for _ in range(2))
    decoy += " " + " ".join(f"{one}o{other}is{one}a" for one in "bdfgklmnprst" for other in "bdfgklmnprst")
    texts = [*list_honest(), decoy, "\n".join(list_honest())]
    *others, _, found = find_reasons(PROMPTS[SKY], texts, senses)
    assert found == ("gathers",)
    assert not any(others)
