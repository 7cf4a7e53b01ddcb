"""What the demo asks: generated documents to cut, prompts its miners have answers for, statements its pages decide."""

from collections.abc import Mapping

from weighbeam.core.canonical import seeded_digest
from weighbeam.engine.tasks import TaskSource
from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Task
from weighbeam.mechanisms.evidence.bank import read_bank
from weighbeam.miners.prepared_answers import read_prompts

CHARACTERS = 5000
CHUNK_SIZE = 1600


def make_document(seed: str) -> Task:
    document = generate_document(seed, CHARACTERS).text
    return Task(f"generated-{seed[:8]}", {"document": document, "chunk_size": CHUNK_SIZE})


def draw_prompt(seed: str) -> Task:
    """One of the prompts with prepared answers.

    >>> draw_prompt("a") == draw_prompt("a")
    True
    """
    ids = read_prompts()
    prompt = sorted(ids)[int(seeded_digest(seed, "prompt")[:16], 16) % len(ids)]
    return Task(f"prompt-{ids[prompt]}", {"prompt": prompt})


def draw_statement(seed: str) -> Task:
    """One of the statements that pages of the archive decide."""
    rows = [row for row in read_bank() if row["expect"] != "undecidable"]
    row = rows[int(seeded_digest(seed, "statement")[:16], 16) % len(rows)]
    return Task(f"statement-{row['id']}", {"statement": row["statement"]})


TASKS: Mapping[str, TaskSource] = {
    "chunking": make_document,
    "inference": draw_prompt,
    "evidence": draw_statement,
}
