"""Tasks: a checked statement, and the project's own bank of statements with its archive of pages."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.text import has_lone_surrogate
from weighbeam.mechanism.records import Seed, Task
from weighbeam.mechanisms.evidence.excerpt.forms import has_letter, parse_words
from weighbeam.mechanisms.evidence.excerpt.text import clean_text

MAX_CHARACTERS = 1000


def parse_statement(body: Mapping[str, Any]) -> str:
    """The statement of a task's body.

    >>> parse_statement({"statement": " The sea is salty. "})
    'The sea is salty.'
    """
    given = body.get("statement")
    if not isinstance(given, str):
        raise WeighbeamError("bad_statement", "the statement is not text", "give a string")
    statement = given.strip()
    require(not has_lone_surrogate(statement), "bad_statement", "it holds a lone surrogate", "decode it as UTF-8 first")
    limit = len(statement) <= MAX_CHARACTERS
    require(limit, "bad_statement", f"it has {len(statement):,} characters", f"give ≤ {MAX_CHARACTERS:,}")
    worded = any(has_letter(word) for word in parse_words(clean_text(statement)))
    require(worded, "bad_statement", "the statement has no word", "state something")
    return statement


BANK_SUFFIXES = ("example",)
EMBEDDED = "embedded"
"""The archive of saved pages in this package."""


@cache
def load_bank() -> tuple[dict[str, Any], ...]:
    """Statements as `{id, statement, expect, pages, topic}`, by id."""
    text = (files("weighbeam.mechanisms.evidence") / "statements" / "statements.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(sorted(rows, key=lambda row: str(row["id"])))


def find_archive() -> Path:
    """The folder of saved pages; their domains end in `.example`."""
    return Path(str(files("weighbeam.mechanisms.evidence") / "archive"))


def find_suffixes(archive: str | None) -> tuple[str, ...]:
    return BANK_SUFFIXES if archive == EMBEDDED else ()


def name_archive(archive: str, folder: Path, lists: Path | None = None) -> dict[str, Any]:
    """Options of `LocalSenses` to read saved pages; the archive's own lists count if no others are named."""
    place = find_archive() if archive == EMBEDDED else folder / Path(archive).expanduser()
    own = place / "lists"
    chosen = lists or (own if own.is_dir() else None)
    return {"pages": f"archive:{place}", "lists": chosen, "extra_suffixes": find_suffixes(archive)}


def generate_task(seed: Seed) -> Task:
    """One statement of the bank.

    >>> generate_task("a") == generate_task("a")
    True
    """
    bank = load_bank()
    row = bank[int(seeded_digest(seed, "statement")[:16], 16) % len(bank)]
    return Task(f"statement-{row['id']}", {"statement": row["statement"]})


def parse_statement_text(name: str, text: str) -> Task:
    """A task out of a text: its statement."""
    body = {"statement": text.strip()}
    try:
        parse_statement(body)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} cannot be a task: {fault.message}", fault.remedy) from None
    return Task(f"statement-{digest_text(body['statement'])[:16]}", body)
