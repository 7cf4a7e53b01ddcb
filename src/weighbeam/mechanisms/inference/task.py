"""What is asked: a prompt, or messages whose last word of the user is the prompt; checked before anyone is asked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.core.surrogates import has_lone_surrogate
from weighbeam.core.words import clean_text, find_words
from weighbeam.mechanisms.inference.params import MAX_PROMPT

MOST_TOKENS = 32_768
MOST_WORDS = 4000
MOST_POSED = 900_000
"""Bytes; a miner takes a megabyte with everything around them."""
FIELDS = ("prompt", "messages", "prose", "max_tokens", "temperature", "model")
MOST_TEMPERATURE = 2
MOST_MODEL = 200
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Question:
    """A task as it is read: the text answers are judged by, and what a miner is sent."""

    prompt: str
    prose: bool
    posed: Mapping[str, Any]

    def most_words(self, usual: int) -> int:
        """How many words an answer may have: as many as the tokens asked for, if those are more than usual.

        Never so many that reading the answers would take longer than a round.
        """
        return max(usual, min(MOST_WORDS, int(self.posed.get("max_tokens", 0))))


def read_body(body: Mapping[str, Any]) -> Question:
    """The question in a task's body `{prompt | messages, prose?, max_tokens?, temperature?, model?}`.

    >>> read_body({"prompt": "Why?"}).posed
    {'prompt': 'Why?'}
    """
    prompt, posed = _read_messages(body["messages"]) if body.get("messages") is not None else _read_prompt(body)
    require(bool(find_words(clean_text(prompt))), "empty_prompt", "the prompt has no word", "ask something")
    posed = {**posed, **_read_wishes(body)}
    size = len(json.dumps(posed))
    require(size <= MOST_POSED, "bad_prompt", f"the question has {size:,} bytes", f"give ≤ {MOST_POSED:,} as JSON")
    prose = body.get("prose")
    require(prose is None or isinstance(prose, bool), "bad_prose", f"prose is {prose!r}", "give true or false")
    return Question(prompt, prose is not False, posed)


def _read_wishes(body: Mapping[str, Any]) -> dict[str, Any]:
    """How the asker would like it answered: told to miners, and no part of the scoring."""
    tokens, temperature, model = (body.get(name) for name in ("max_tokens", "temperature", "model"))
    good = tokens is None or (is_integer(tokens, 1) and tokens <= MOST_TOKENS)
    require(good, "bad_max_tokens", f"max_tokens is {tokens!r}", f"give an integer from 1 to {MOST_TOKENS}")
    good = temperature is None or (is_number(temperature, 0) and temperature <= MOST_TEMPERATURE)
    require(good, "bad_temperature", f"temperature is {temperature!r}", f"give a number from 0 to {MOST_TEMPERATURE}")
    good = model is None or (isinstance(model, str) and len(model) <= MOST_MODEL and not has_lone_surrogate(model))
    require(good, "bad_model", "model is no short text", f"give a name of at most {MOST_MODEL} characters")
    named = {"max_tokens": tokens, "temperature": temperature, "model": model}
    return {name: value for name, value in named.items() if value is not None}


def _read_prompt(body: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    prompt = _check_text(body.get("prompt"), "the prompt")
    return prompt, {"prompt": prompt}


def _read_messages(messages: Any) -> tuple[str, dict[str, Any]]:
    """The last user message, and all of them."""
    remedy = 'write [{"role": "user", "content": "…"}]'
    require(isinstance(messages, list) and bool(messages), "bad_messages", "messages is not a list", remedy)
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
