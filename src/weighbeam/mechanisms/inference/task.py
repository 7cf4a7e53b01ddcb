"""Tasks: a checked prompt or conversation, and the project's own bank of prompts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.core.text import clean_text, find_words, has_lone_surrogate
from weighbeam.mechanism.records import Seed, Task
from weighbeam.mechanisms.inference.params import MAX_PROMPT
from weighbeam.mechanisms.inference.reference.source import parse_line

MAX_TOKENS = 32_768
MAX_WORDS = 4000
MAX_POSED = 900_000
"""Bytes; a miner takes a megabyte with everything around them."""
FIELDS = ("prompt", "messages", "prose", "max_tokens", "temperature", "model", "reference")
MAX_TEMPERATURE = 2
MAX_MODEL = 200
MAX_MESSAGES = 1000
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A task as it is read: the text answers are judged by, and what a miner is sent."""

    prompt: str
    prose: bool
    posed: Mapping[str, Any]

    def max_words(self, usual: int) -> int:
        """How many words an answer may have: as many as the tokens asked for, if those are more than usual.

        Never so many that reading the answers would take longer than a round.
        """
        return max(usual, min(MAX_WORDS, int(self.posed.get("max_tokens", 0))))


def parse_body(body: Mapping[str, Any]) -> ParsedPrompt:
    """The question in a task's body `{prompt | messages, prose?, max_tokens?, temperature?, model?}`.

    >>> parse_body({"prompt": "Why?"}).posed
    {'prompt': 'Why?'}
    """
    prompt, posed = _parse_messages(body["messages"]) if body.get("messages") is not None else _parse_prompt(body)
    require(bool(find_words(clean_text(prompt))), "empty_prompt", "the prompt has no word", "ask something")
    posed = {**posed, **_parse_wishes(body)}
    size = len(json.dumps(posed))
    require(size <= MAX_POSED, "bad_prompt", f"the question has {size:,} bytes", f"give ≤ {MAX_POSED:,} as JSON")
    prose = body.get("prose")
    require(prose is None or isinstance(prose, bool), "bad_prose", f"prose is {prose!r}", "give true or false")
    return ParsedPrompt(prompt, prose is not False, posed)


def _parse_wishes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Wishes of the asker: passed to miners, and not part of the scoring."""
    tokens, temperature, model = (body.get(name) for name in ("max_tokens", "temperature", "model"))
    good = tokens is None or (is_integer(tokens, 1) and tokens <= MAX_TOKENS)
    require(good, "bad_max_tokens", f"max_tokens is {tokens!r}", f"give an integer from 1 to {MAX_TOKENS}")
    good = temperature is None or (is_number(temperature, 0) and temperature <= MAX_TEMPERATURE)
    require(good, "bad_temperature", f"temperature is {temperature!r}", f"give a number from 0 to {MAX_TEMPERATURE}")
    good = model is None or (isinstance(model, str) and len(model) <= MAX_MODEL and not has_lone_surrogate(model))
    require(good, "bad_model", "model is not a short text", f"give a name of at most {MAX_MODEL} characters")
    named = {"max_tokens": tokens, "temperature": temperature, "model": model}
    return {name: value for name, value in named.items() if value is not None}


def _parse_prompt(body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    prompt = _check_text(body.get("prompt"), "the prompt")
    return prompt, {"prompt": prompt}


def _parse_messages(messages: Any) -> tuple[str, dict[str, Any]]:
    """The last user message, and all of them."""
    remedy = 'write [{"role": "user", "content": "…"}]'
    require(isinstance(messages, list) and bool(messages), "bad_messages", "messages is not a list", remedy)
    few = len(messages) <= MAX_MESSAGES
    require(few, "bad_messages", f"there are {len(messages):,} messages", f"give at most {MAX_MESSAGES:,}")
    said: list[dict[str, str]] = []
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if not isinstance(role, str) or role not in ROLES:
            raise WeighbeamError("bad_messages", f"message {number} has the role {role!r}", f"use one of {ROLES}")
        said.append({"role": role, "content": _check_text(message.get("content"), f"message {number}")})
    asked = [message["content"] for message in said if message["role"] == "user"]
    require(bool(asked), "bad_messages", "no message is the user's", remedy)
    return asked[-1], {"messages": said}


def _check_text(text: Any, what: str) -> str:
    if not isinstance(text, str):
        raise WeighbeamError("bad_prompt", f"{what} is not text", "give a string")
    require(len(text) <= MAX_PROMPT, "bad_prompt", f"{what} has {len(text):,} characters", f"give ≤ {MAX_PROMPT:,}")
    require(not has_lone_surrogate(text), "bad_prompt", f"{what} holds a lone surrogate", "decode it as UTF-8 first")
    return text


ASKING = {"prompt", "messages"}


@cache
def load_bank() -> tuple[dict[str, Any], ...]:
    """Prompts as `{id, prompt, topic}`, by id."""
    text = (files("weighbeam.mechanisms.inference") / "prompts" / "prompts.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return tuple(sorted(rows, key=lambda row: str(row["id"])))


def generate_task(seed: Seed) -> Task:
    """One prompt of the bank.

    >>> generate_task("a") == generate_task("a")
    True
    """
    bank = load_bank()
    row = bank[int(seeded_digest(seed, "prompt")[:16], 16) % len(bank)]
    prose = {"prose": row["prose"]} if "prose" in row else {}
    return Task(f"prompt-{row['id']}", {"prompt": row["prompt"], **prose})


def parse_prompt_text(name: str, text: str) -> Task:
    """A task out of a text: its prompt, or a JSON object `{prompt | messages, prose?, max_tokens?, reference?}`; one
    with `let` is a template, drawn for each round."""
    row = _parse_object(text)
    body = {"prompt": text.strip()} if row is None else {key: row[key] for key in FIELDS if key in row}
    try:
        templated = None if row is None else parse_line(row, text)
        if templated is not None:
            return templated
        parse_body(body)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} cannot be a task: {fault.message}", fault.remedy) from None
    return Task(f"prompt-{digest_text(text.strip())[:16]}", body)


def _parse_object(text: str) -> dict[str, Any] | None:
    """The object a text spells out, if it does; the prompt of another text may well be JSON too."""
    try:
        read = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) and read.keys() & ASKING else None
