"""Statements of the project's own, with the archive of pages that speaks of them."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Seed, Task
from weighbeam.mechanisms.evidence.task import read_statement

SUFFIXES = ("example",)


@cache
def read_bank() -> tuple[dict[str, Any], ...]:
    """Statements as `{id, statement, expect, pages, topic}`, by id."""
    text = (files("weighbeam.mechanisms.evidence") / "statements" / "statements.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(sorted(rows, key=lambda row: str(row["id"])))


def find_archive() -> Path:
    """The folder of saved pages; their domains end in `.example`."""
    return Path(str(files("weighbeam.mechanisms.evidence") / "archive"))


def generate_task(seed: Seed) -> Task:
    """One statement of the bank.

    >>> generate_task("a") == generate_task("a")
    True
    """
    bank = read_bank()
    row = bank[int(seeded_digest(seed, "statement")[:16], 16) % len(bank)]
    return Task(f"statement-{row['id']}", {"statement": row["statement"]})


def read_statement_text(name: str, text: str) -> Task:
    """A task out of a text: its statement."""
    body = {"statement": text.strip()}
    try:
        read_statement(body)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} makes no task: {fault.message}", fault.remedy) from None
    return Task(f"statement-{digest_text(body['statement'])[:16]}", body)
