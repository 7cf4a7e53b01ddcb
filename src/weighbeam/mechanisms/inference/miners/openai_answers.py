"""An honest miner that asks a model behind any OpenAI-compatible endpoint; the one module that knows its client."""

import os
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.miner_app import Handler

KEY_VARIABLE = "OPENAI_API_KEY"
MAX_TOKENS = 1024
RESERVE = 0.9


def openai_answerer(model: str, url: str) -> Handler:
    """Answers with `model` of the endpoint at `url`; the key is read from the environment and never logged."""
    try:
        from openai import AsyncOpenAI
    except ImportError:
        raise WeighbeamError("no_openai", "the openai client is missing", "pip install 'weighbeam[openai]'") from None
    client = AsyncOpenAI(base_url=url, api_key=os.environ.get(KEY_VARIABLE, "none"), max_retries=1)

    async def answer(task: dict[str, Any], seconds: float) -> Any:
        messages = task.get("messages") or [{"role": "user", "content": task["prompt"]}]
        tokens = min(int(task.get("max_tokens") or MAX_TOKENS), MAX_TOKENS)
        reply = await client.chat.completions.create(
            model=model, messages=messages, max_tokens=tokens, temperature=0.2, timeout=seconds * RESERVE
        )
        return {"text": reply.choices[0].message.content or ""}

    return answer
