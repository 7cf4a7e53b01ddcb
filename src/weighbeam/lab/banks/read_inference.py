"""Honest answers of graded quality to prompts of the bank: what miners of different skill would say."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

Grade: TypeAlias = Literal["good", "plain", "weak"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """One answer and how good it was meant to be; the scorer is never told."""

    grade: Grade
    text: str


@cache
def read_graded() -> dict[str, tuple[Prepared, ...]]:
    """Answers by prompt id, the best grade first, each worded by itself.

    >>> [answer.grade for answer in read_graded()["why-sky-is-blue"]]
    ['good', 'good', 'plain', 'plain', 'plain', 'weak', 'weak']
    """
    lines = (files("weighbeam.lab") / "banks" / "inference.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: tuple(Prepared(each["grade"], each["text"]) for each in row["answers"]) for row in rows}
