"""Synthetic tasks: a prompt of the bank, chosen by the round's seed, or one of the operator's own."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Seed, Task
from weighbeam.mechanisms.inference.task import FIELDS, read_body

ASKING = {"prompt", "messages"}


@cache
def read_bank() -> tuple[dict[str, Any], ...]:
    """Prompts as `{id, prompt, topic}`, by id."""
    text = (files("weighbeam.mechanisms.inference") / "prompts" / "prompts.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(sorted(rows, key=lambda row: str(row["id"])))


def generate_task(seed: Seed) -> Task:
    """One prompt of the bank.

    >>> generate_task("a") == generate_task("a")
    True
    """
    bank = read_bank()
    row = bank[int(seeded_digest(seed, "prompt")[:16], 16) % len(bank)]
    prose = {"prose": row["prose"]} if "prose" in row else {}
    return Task(f"prompt-{row['id']}", {"prompt": row["prompt"], **prose})


def read_prompt_text(name: str, text: str) -> Task:
    """A task out of a text: its prompt, or a JSON object `{prompt | messages, prose?, max_tokens?}`."""
    body = _read_object(text) or {"prompt": text.strip()}
    try:
        read_body(body)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} makes no task: {fault.message}", fault.remedy) from None
    return Task(f"prompt-{digest_text(text.strip())[:16]}", body)


def _read_object(text: str) -> dict[str, Any] | None:
    """The body a text spells out, if it does; the prompt of another text may well be JSON too."""
    try:
        read = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return (
        {key: read[key] for key in FIELDS if key in read} if isinstance(read, dict) and read.keys() & ASKING else None
    )
