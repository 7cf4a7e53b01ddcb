"""Which round asks a reference task, and which one: both follow from the round's seed, which nobody knows before."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import digest_text, is_in_share, seeded_digest
from weighbeam.mechanism.records import Seed, Task
from weighbeam.mechanisms.inference.reference.kinds import KINDS
from weighbeam.mechanisms.inference.reference.template import DrawnTask, expand_template


@cache
def load_templates(kind: str) -> tuple[dict[str, Any], ...]:
    """The templates of a kind that come with the package, by id."""
    text = (files("weighbeam.mechanisms.inference.reference") / "bank" / f"{kind}.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(sorted(rows, key=lambda row: str(row["id"])))


def list_templates(entailment: bool) -> tuple[dict[str, Any], ...]:
    """All templates; those whose answers a sense has to judge only where it may be used.

    >>> len(list_templates(False)) >= 200
    True
    """
    return tuple(row for kind in KINDS if entailment or kind != "text" for row in load_templates(kind))


def is_drawn(share: float, seed: Seed) -> bool:
    """Whether the round of a seed asks a reference task.

    >>> is_drawn(0.0, "a"), is_drawn(1.0, "a")
    (False, True)
    """
    return is_in_share(share, seed, "reference")


def draw_reference(seed: Seed, entailment: bool) -> DrawnTask:
    """One template with everything drawn."""
    templates = list_templates(entailment)
    row = templates[int(seeded_digest(seed, "template")[:16], 16) % len(templates)]
    return expand_template(row, seeded_digest(seed, "values"))


def make_task(drawn: DrawnTask) -> Task:
    """Named by its prompt, as any other."""
    return Task(f"prompt-{digest_text(drawn.body['prompt'])[:16]}", drawn.body)
