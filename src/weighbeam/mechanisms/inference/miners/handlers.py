"""Reference inference miners: honest ones from prepared answers or a model, hostile ones with one trick each."""

import asyncio
import os
import re
from collections.abc import Callable
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE, contradict
from weighbeam.mechanisms.inference.miners.prepared_answers import VOICES, find_answers
from weighbeam.mechanisms.inference.params import MAX_ANSWER_BYTES
from weighbeam.network.miner_app import Handler
from weighbeam.senses.ports.protocols import Senses

PACE_SECONDS = 0.15
GARBAGE = (
    "This is a really interesting question with many important aspects to consider. In general it depends on the "
    "situation, and different people will find different ways that work well for them in various cases."
)
CERTAINTY = "I am absolutely certain of this, and nobody can doubt it."
Trick = Callable[[str], dict[str, Any]]


def find_miner(name: str, senses: Senses) -> Handler | None:
    """`prepared:VOICE`, `openai:MODEL@URL` or `hostile:TRICK`."""
    kind, _, rest = name.partition(":")
    if kind == "hostile" and rest in TRICKS:
        return hostile_answerer(rest)
    if kind == "prepared" and rest.isdecimal():
        return honest_answerer(int(rest))
    return openai_answerer(*_split_model(rest)) if kind == "openai" else None


def _split_model(text: str) -> tuple[str, str]:
    model, _, url = text.partition("@")
    if not model or not url:
        raise WeighbeamError(
            "bad_config", f"openai:{text} does not name a model and an endpoint", "write openai:MODEL@URL"
        )
    return model, url


def honest_answerer(voice: int) -> Handler:
    """A miner with a voice of its own: 0 to 4."""

    async def answer(task: dict[str, Any], _: float) -> Any:
        text = find_answers(_parse_prompt(task))[voice % VOICES]
        await asyncio.sleep(PACE_SECONDS + int(seeded_digest(text, voice)[:4], 16) / 65536 * PACE_SECONDS)
        return {"text": text, "confidence": 0.6 + 0.05 * voice}

    return answer


def hostile_answerer(trick: str) -> Handler:
    """A miner that wants to be paid without answering."""
    spoil = TRICKS[trick]

    async def answer(task: dict[str, Any], _: float) -> Any:
        if trick != "instant-garbage":
            await asyncio.sleep(PACE_SECONDS)
        return spoil(_parse_prompt(task))

    return answer


def _parse_prompt(task: dict[str, Any]) -> str:
    if isinstance(task.get("prompt"), str):
        return str(task["prompt"])
    asked = [message["content"] for message in task.get("messages", []) if message.get("role") == "user"]
    return str(asked[-1]) if asked else ""


def _stuff(prompt: str) -> str:
    words = [word.strip("?.,:;").lower() for word in prompt.split() if len(word) > 4]
    return " ".join((words or ["answer"]) * 12)


def _copy(prompt: str) -> str:
    """Copy voice 0 word for word. Both read one file, as if its answer had leaked: nothing is overheard."""
    return find_answers(prompt)[0]


def _be_sure(prompt: str) -> str:
    """One sentence of an answer, and nothing but certainty to go with it."""
    return f"{SENTENCE.split(find_answers(prompt)[3])[0]} {CERTAINTY}"


TRICKS: dict[str, Trick] = {
    "garbage-1": lambda _: {"text": GARBAGE, "confidence": 0.9},
    "garbage-2": lambda _: {"text": GARBAGE.replace("many", "several"), "confidence": 0.9},
    "garbage-3": lambda _: {"text": GARBAGE.replace("really", "very"), "confidence": 0.9},
    "copycat": lambda prompt: {"text": _copy(prompt), "confidence": 0.9},
    "echo": lambda prompt: {"text": f"{prompt} That is the question: {prompt}", "confidence": 0.9},
    "stuffing": lambda prompt: {"text": _stuff(prompt), "confidence": 0.9},
    "giant": lambda prompt: {"text": " ".join([prompt, GARBAGE] * 60), "confidence": 0.9},
    "instant-garbage": lambda _: {"text": "It depends on many things.", "confidence": 1.0},
    "overconfident": lambda prompt: {"text": _be_sure(prompt), "confidence": 1.0},
    "contradictor": lambda prompt: {"text": contradict(find_answers(prompt)[4]), "confidence": 0.9},
}


KEY_VARIABLE = "OPENAI_API_KEY"
MAX_TOKENS = 1024
RESERVE = 0.9
"""Of the time that a task leaves: the rest is for the way back."""
WHOLE = re.compile(r".*[^\W\d][.!?][\"'”’)\]]*(?=\s)", re.DOTALL)


def openai_answerer(model: str, url: str) -> Handler:
    """Answers with `model` of the endpoint at `url`; the key is read from the environment and never logged.

    The text is read as it is written, so that a model that is slow or does not come to an end still answers in time.
    """
    try:
        from openai import AsyncOpenAI
    except ImportError:
        raise WeighbeamError("no_openai", "the openai client is missing", "pip install 'weighbeam[openai]'") from None
    client = AsyncOpenAI(base_url=url, api_key=os.environ.get(KEY_VARIABLE, "none"), max_retries=1)

    async def answer(task: dict[str, Any], seconds: float) -> Any:
        request = {
            "model": model,
            "messages": task.get("messages") or [{"role": "user", "content": task["prompt"]}],
            "max_tokens": min(int(task.get("max_tokens") or MAX_TOKENS), MAX_TOKENS),
            "temperature": 0.2,
        }
        text, ended = await _read_stream(client, request, seconds * RESERVE)
        return {"text": text if ended else end_sentence(text)}

    return answer


async def _read_stream(client: Any, request: dict[str, Any], seconds: float) -> tuple[str, bool]:
    """Text that the model wrote in time, and whether it finished; without any, TimeoutError."""
    pieces: list[str] = []
    ended, size = False, 0
    try:
        async with asyncio.timeout(seconds), await client.chat.completions.create(stream=True, **request) as stream:
            async for part in stream:
                for choice in part.choices[:1]:
                    piece = choice.delta.content or ""
                    size += len(piece)
                    pieces.append(piece)
                    ended = ended or choice.finish_reason == "stop"
                if size > MAX_ANSWER_BYTES:
                    break
    except TimeoutError:
        if not any(pieces):
            raise
    return "".join(pieces), ended


def end_sentence(text: str) -> str:
    """A text that was cut off, up to its last whole sentence; all of it if there is none.

    >>> end_sentence("Water boils at 100 degrees. It takes longer in the mou")
    'Water boils at 100 degrees.'
    >>> end_sentence("1. Fill the kettle. 2. Turn it on. 3. W")
    '1. Fill the kettle. 2. Turn it on.'
    """
    whole = WHOLE.match(text)
    return whole[0] if whole else text
