"""Every template, over several seeds: its own solution is right, its distractors wrong, and no two tasks are one."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.records import Task
from weighbeam.mechanisms.inference.lab.references import answer_reference
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.draw import draw_reference, is_drawn, list_templates, load_templates
from weighbeam.mechanisms.inference.reference.kinds import KINDS, parse_reference
from weighbeam.mechanisms.inference.reference.numerals import format_number
from weighbeam.mechanisms.inference.reference.observe import read_texts
from weighbeam.mechanisms.inference.reference.read import read_answer
from weighbeam.mechanisms.inference.reference.template import DrawnTask, expand_template
from weighbeam.mechanisms.inference.reference.truth import RIGHT, judge_reading
from weighbeam.senses.local import LocalSenses

SEEDS = 6
INFERENCE = Inference()
TEMPLATES = {str(row["id"]): row for row in list_templates(True)}


def judge(drawn: DrawnTask, text: str) -> float | None:
    reference = parse_reference(drawn.body["reference"])
    return judge_reading(reference, read_answer(reference, text))


def list_right(drawn: DrawnTask) -> list[str]:
    """The model solution, said in several ways."""
    reference = parse_reference(drawn.body["reference"])
    if reference.kind == "function":
        return [f"```python\n{drawn.right}\n```", f"Like this:\n\n{drawn.right}\n"]
    if reference.kind == "value":
        plain = format_number(reference.value)
        return [plain, f"**{plain}**", f"So we get {plain}.", f"The answer is {plain}."]
    named = [reference.things[place][0] for place in sorted(reference.right)]
    return [", ".join(named), f"The answer is: {' and '.join(named)}."]


def list_wrong(drawn: DrawnTask) -> list[str]:
    """Other results, everything at once, two at once, denials and nothing."""
    reference = parse_reference(drawn.body["reference"])
    if reference.kind == "function":
        return [f"```python\n{drawn.wrong}\n```", "I would use a loop."]
    if reference.kind == "value":
        plain, others = format_number(reference.value), [reference.value + 1, reference.value * 2 + 3]
        near = [format_number(other) for other in others]
        return [
            *near,
            f"{near[0]} or {plain}",
            f"The answer is not {plain}.",
            f"Either {plain} or {near[1]}.",
            "Hard to say.",
        ]
    every = [thing[0] for thing in reference.things]
    right = [every[place] for place in sorted(reference.right)]
    others = [name for place, name in enumerate(every) if place not in reference.right]
    hedged = [] if reference.kind == "set" else [f"{right[0]} or {others[0]}", f"Either {others[0]} or {right[0]}."]
    return [", ".join(every), others[0], f"The answer is: {others[-1]}.", *hedged, "Hard to say."]


def test_there_are_more_than_two_hundred_of_all_kinds() -> None:
    assert len(list_templates(entailment=False)) >= 200
    assert {kind: len(load_templates(kind)) >= 8 for kind in KINDS} == dict.fromkeys(KINDS, True)
    assert len(TEMPLATES) == len(list_templates(entailment=True)), "two templates share an id"


@pytest.mark.parametrize("name", [name for name, row in TEMPLATES.items() if row["reference"]["kind"] != "text"])
def test_solutions_are_right_and_distractors_wrong(name: str) -> None:
    for seed in range(SEEDS):
        drawn = expand_template(TEMPLATES[name], f"seed-{seed}")
        assert {text: judge(drawn, text) for text in list_right(drawn)} == dict.fromkeys(list_right(drawn), 1.0)
        wrong = {text: judge(drawn, text) for text in list_wrong(drawn)}
        assert {text: truth for text, truth in wrong.items() if truth is None or truth >= RIGHT} == {}


@pytest.mark.parametrize("name", TEMPLATES)
def test_another_seed_is_another_task(name: str) -> None:
    drawn = [expand_template(TEMPLATES[name], f"seed-{seed}").body for seed in range(24)]
    assert drawn[0] == expand_template(TEMPLATES[name], "seed-0").body
    assert len({body["prompt"] for body in drawn}) >= 4


@pytest.mark.parametrize("name", TEMPLATES)
def test_prompts_read_like_any_other(name: str) -> None:
    """No sign of a template: no braces, no doubled blanks, no article before the wrong sound."""
    for seed in range(SEEDS):
        prompt = expand_template(TEMPLATES[name], f"seed-{seed}").body["prompt"]
        assert 30 <= len(prompt) <= 700
        assert not any(sign in prompt for sign in ("{", "}", "  ", " a o", " a e", " a i", "None", "[")), prompt
        assert "reference" not in prompt.lower()


def test_the_lab_says_right_and_wrong_things_in_the_same_words() -> None:
    chance = np.random.default_rng(1)
    found = Counter[tuple[bool, bool]]()
    for seed in range(120):
        drawn = draw_reference(seed, entailment=False)
        for right in (True, False):
            truth = judge(drawn, answer_reference(drawn, right, chance))
            assert truth is not None
            found[right, truth >= RIGHT] += 1
    assert found == {(True, True): 120, (False, False): 120}


def test_texts_are_judged_by_the_sense(senses: LocalSenses) -> None:
    found = []
    for name, row in TEMPLATES.items():
        if row["reference"]["kind"] == "text":
            drawn = expand_template(row, "seed-0")
            reference = parse_reference(drawn.body["reference"])
            readings, faults = read_texts(reference, [str(drawn.right), str(drawn.wrong), "It depends."], senses)
            assert faults == []
            truths = [judge_reading(reference, reading) for reading in readings if reading is not None]
            found.append((name, truths[0], truths[1], truths[2]))
    assert [row for row in found if row[1] != 1.0 or row[2] not in (0.0, None) or row[3] not in (0.0, None)] == []
    assert sum(row[2] == 0.0 for row in found) >= 2, "the sense tells nothing apart"


def test_the_share_is_met() -> None:
    drawn = sum(is_drawn(0.2, f"round-{number}") for number in range(4000))
    assert 720 <= drawn <= 880


def test_nobody_sees_which_tasks_have_a_reference() -> None:
    """What miners are sent, and every limit they meet, is the same with and without."""
    params = InferenceParams(reference_share=0.5)
    tasks = [INFERENCE.generate_task(params, f"seed-{number}") for number in range(60)]
    known = ["reference" in task.body for task in tasks]
    assert 15 <= sum(known) <= 45
    posed = [INFERENCE.pose(params, task) for task in tasks]
    assert {tuple(sorted(one)) for one in posed} == {("max_words", "prompt")}
    assert {one["max_words"] for one in posed} == {params.max_answer_words}
    assert {INFERENCE.reply_limits(params, task) for task in tasks} == {INFERENCE.reply_limits(params, tasks[0])}
    assert all(task.id.startswith("prompt-") and task.kind == "synthetic" and task.ranked for task in tasks)


def test_a_share_of_zero_is_the_seed() -> None:
    seeds = [f"seed-{number}" for number in range(200)]
    plain = [INFERENCE.generate_task(InferenceParams(reference_share=0.0), seed) for seed in seeds]
    assert not any("reference" in task.body for task in plain)
    shared = [INFERENCE.generate_task(InferenceParams(reference_share=0.3), seed) for seed in seeds]
    assert all(one == other for one, other in zip(plain, shared, strict=True) if "reference" not in other.body)


TEMPLATE = {
    "let": ["a = between(2, 9)", "w = sample(names, 3)"],
    "prompt": "{w[0]} has {a} pears, {w[1]} none. Who has pears?",
    "reference": {"kind": "span", "answer": "=w[0]", "others": "=w[1:]"},
}


def test_a_line_of_a_file_may_be_a_template() -> None:
    import json

    task = INFERENCE.parse_task(InferenceParams(), "tasks.jsonl 1", json.dumps(TEMPLATE))
    first, again, other = (INFERENCE.finish_task(InferenceParams(), task, seed) for seed in ("a", "a", "b"))
    assert first == again
    assert first.body["prompt"] != other.body["prompt"]
    assert set(INFERENCE.pose(InferenceParams(), first)) == {"prompt", "max_words"}


def test_a_line_of_a_file_may_have_a_reference() -> None:
    line = '{"prompt": "What is 6 times 7?", "reference": {"kind": "value", "answer": 42}}'
    task = INFERENCE.parse_task(InferenceParams(), "tasks.jsonl 1", line)
    assert INFERENCE.finish_task(InferenceParams(), task, "s") == task
    assert task.body["reference"] == {"kind": "value", "answer": 42}
    assert "reference" not in INFERENCE.pose(InferenceParams(), task)


def test_rounds_of_a_file_take_their_share_of_the_bank() -> None:
    params = InferenceParams(reference_share=0.5)
    task = Task("own", {"prompt": "Why does bread rise?"})
    finished = [INFERENCE.finish_task(params, task, f"seed-{number}") for number in range(60)]
    assert 15 <= sum("reference" in one.body for one in finished) <= 45
    assert all(one == task for one in finished if "reference" not in one.body)


BAD_LINES = [
    ({"reference": {"kind": "value", "answer": "many"}}, "reference"),
    ({"let": ["a = 1 / 0"]}, "template"),
    ({"let": "a = 1"}, "template"),
    ({"let": ["while True: pass"]}, "template"),
    ({"let": ["a = 10 ** 10 ** 10"]}, "template"),
    ({"let": ["import os"]}, "template"),
    ({"let": [], "prompt": "What is {b}?"}, "template"),
    ({"let": [], "prompt": "What is {names}?"}, "template"),
    ({"let": [], "extra": 1}, "template"),
    ({"let": ["a = pick([])"]}, "template"),
    ({"let": ["a = sample([1], 2)"]}, "template"),
    ({"let": ["a = 1"], "reference": {"kind": "value", "answer": "=a +"}}, "template"),
    ({"let": ["a = 1"], "reference": {"kind": "value", "answer": "=names"}}, "reference"),
    ({"let": ["a = 1"], "solution": "def f(x): return x"}, "template"),
]


@pytest.mark.parametrize(("change", "what"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_refused_with_a_remedy(change: dict[str, Any], what: str) -> None:
    import json

    row = {"prompt": "How many?", "reference": {"kind": "value", "answer": 3}, **change}
    with pytest.raises(WeighbeamError) as caught:
        INFERENCE.parse_task(InferenceParams(), "tasks.jsonl 1", json.dumps(row))
    assert caught.value.code == "bad_task"
    assert what in caught.value.message
    assert caught.value.remedy
