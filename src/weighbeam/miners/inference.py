"""Reference inference miners for the demo: honest ones from prepared answers, hostile ones with one trick each."""

import asyncio
import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.serve import Handler

VOICES = 5
PACE_SECONDS = 0.15
GARBAGE = (
    "This is a really interesting question with many important aspects to consider. In general it depends on the "
    "situation, and different people will find different ways that work well for them in various cases."
)
Trick = Callable[[str], dict[str, Any]]


@cache
def read_answers() -> dict[str, tuple[str, ...]]:
    """Prepared answers by prompt id, five to a prompt, each as another person would write it."""
    lines = (files("weighbeam.miners") / "answers" / "answers.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["id"]: tuple(row["answers"]) for row in rows}


@cache
def read_prompts() -> dict[str, str]:
    """Prompt ids by prompt, for those that have prepared answers."""
    path = files("weighbeam.mechanisms") / "inference" / "prompts" / "prompts.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return {row["prompt"]: row["id"] for row in rows if row["id"] in read_answers()}


def find_answers(prompt: str) -> tuple[str, ...]:
    """The prepared answers to a prompt of the bank; a prompt without any is refused."""
    name = read_prompts().get(prompt)
    if name is None:
        raise WeighbeamError("no_answer", "no answer is prepared for this prompt", "ask a prompt of the bank")
    return read_answers()[name]


def honest_answerer(voice: int) -> Handler:
    """A miner with a voice of its own: 0 to 4."""

    async def answer(task: dict[str, Any], _: float) -> Any:
        text = find_answers(_read_prompt(task))[voice % VOICES]
        await asyncio.sleep(PACE_SECONDS + int(seeded_digest(text, voice)[:4], 16) / 65536 * PACE_SECONDS)
        return {"text": text, "confidence": 0.6 + 0.05 * voice}

    return answer


def hostile_answerer(trick: str) -> Handler:
    """A miner that wants to be paid without answering."""
    spoil = TRICKS[trick]

    async def answer(task: dict[str, Any], _: float) -> Any:
        if trick != "instant-garbage":
            await asyncio.sleep(PACE_SECONDS)
        return spoil(_read_prompt(task))

    return answer


def _read_prompt(task: dict[str, Any]) -> str:
    if isinstance(task.get("prompt"), str):
        return str(task["prompt"])
    asked = [message["content"] for message in task.get("messages", []) if message.get("role") == "user"]
    return str(asked[-1]) if asked else ""


def _stuff(prompt: str) -> str:
    words = [word.strip("?.,:;").lower() for word in prompt.split() if len(word) > 4]
    return " ".join((words or ["answer"]) * 12)


TRICKS: dict[str, Trick] = {
    "garbage-1": lambda _: {"text": GARBAGE, "confidence": 0.9},
    "garbage-2": lambda _: {"text": GARBAGE.replace("many", "several"), "confidence": 0.9},
    "garbage-3": lambda _: {"text": GARBAGE.replace("really", "very"), "confidence": 0.9},
    "copycat": lambda prompt: {"text": find_answers(prompt)[0], "confidence": 0.9},
    "echo": lambda prompt: {"text": f"{prompt} That is the question: {prompt}", "confidence": 0.9},
    "stuffing": lambda prompt: {"text": _stuff(prompt), "confidence": 0.9},
    "giant": lambda prompt: {"text": " ".join([prompt, GARBAGE] * 60), "confidence": 0.9},
    "instant-garbage": lambda _: {"text": "It depends on many things.", "confidence": 1.0},
    "overconfident": lambda prompt: {"text": f"{_stuff(prompt)[:200]} and so on.", "confidence": 1.0},
}
