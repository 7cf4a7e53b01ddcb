"""Where reference tasks come from: the bank of the package, or lines of an owner's file."""

from typing import Any

from weighbeam.core.canonical import digest_text
from weighbeam.mechanism.records import Seed, Task
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.draw import draw_reference, is_drawn, make_task
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.template import expand_template

TEMPLATE = "template"
LINES = "let"
CHECKED_SEEDS = 3
"""Number of seeds with which a template is tried before use."""


def draw_instead(params: InferenceParams, seed: Seed) -> Task | None:
    """A task of the bank, if this round asks one."""
    if not is_drawn(params.reference_share, seed):
        return None
    return make_task(draw_reference(seed, params.reference_entailment))


def parse_line(row: dict[str, Any], text: str) -> Task | None:
    """A task with a reference out of an owner's row, or its template, still to be drawn; None if it has neither."""
    if "reference" not in row:
        return None
    name = f"prompt-{digest_text(text.strip())[:16]}"
    if LINES not in row:
        parse_reference(row["reference"])
        return None
    for seed in range(CHECKED_SEEDS):
        expand_template(row, seed)
    return Task(name, {TEMPLATE: row})


def finish_template(task: Task, seed: Seed) -> Task:
    """The task with what its template left open drawn from the seed."""
    row = task.body.get(TEMPLATE)
    return task if row is None else make_task(expand_template(row, seed))
