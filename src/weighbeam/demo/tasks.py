"""What the demo asks: generated documents to cut, and prompts that its miners have answers for."""

from collections.abc import Mapping

from weighbeam.core.canonical import seeded_digest
from weighbeam.engine.tasks import TaskSource
from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Task
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


TASKS: Mapping[str, TaskSource] = {"chunking": make_document, "inference": draw_prompt}
