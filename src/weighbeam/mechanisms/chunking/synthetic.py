"""Synthetic tasks: a generated document of seeded length, or a document from a folder (spec § 14)."""

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.check import Document
from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Seed, Task

LEAST_CHARACTERS, MOST_CHARACTERS = 6_000, 20_000


def generate_task(seed: Seed) -> Task:
    """A document between 6,000 and 20,000 characters long.

    >>> 6_000 <= len(generate_task("a").body["document"]) < 22_000
    True
    """
    span = MOST_CHARACTERS - LEAST_CHARACTERS + 1
    characters = LEAST_CHARACTERS + int(seeded_digest(seed, "characters")[:8], 16) % span
    return Task(f"generated-{seeded_digest(seed, 'task')[:16]}", {"document": generate_document(seed, characters).text})


def read_document(name: str, text: str) -> Task:
    """A task of one document, as it is in its file."""
    try:
        Document(text)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} makes no task: {fault.message}", fault.remedy) from None
    return Task(f"document-{digest_text(text)[:16]}", {"document": text})
