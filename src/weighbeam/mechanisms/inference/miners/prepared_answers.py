"""Answers written beforehand to some prompts of the bank: what honest miners say and hostile ones make use of."""

import json
from functools import cache
from importlib.resources import files

from weighbeam.core.errors import WeighbeamError

VOICES = 5


@cache
def load_answers() -> dict[str, tuple[str, ...]]:
    """Prepared answers by prompt id, five to a prompt, each as another person would write it."""
    lines = (
        (files("weighbeam.mechanisms.inference.miners") / "answers" / "answers.jsonl").read_text("utf-8").splitlines()
    )
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: tuple(row["answers"]) for row in rows}


@cache
def load_prompts() -> dict[str, str]:
    """Prompt ids by prompt, for those that have prepared answers."""
    path = files("weighbeam.mechanisms") / "inference" / "prompts" / "prompts.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return {row["prompt"]: row["id"] for row in rows if row["id"] in load_answers()}


def find_answers(prompt: str) -> tuple[str, ...]:
    """The prepared answers to a prompt of the bank; a prompt without any is refused."""
    name = load_prompts().get(prompt)
    if name is None:
        raise WeighbeamError("no_answer", "no answer is prepared for this prompt", "ask a prompt of the bank")
    return load_answers()[name]
