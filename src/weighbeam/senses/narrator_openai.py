"""A narrator behind any OpenAI-compatible chat endpoint (extra `weighbeam[openai]`).

The endpoint is trusted with nothing: one deadline covers every retry and every byte, a reply has a greatest size, and
no error repeats what the server said, since that may hold the key.
"""

import asyncio
import os
import re
import threading
from typing import Any
from urllib.parse import urlsplit

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.senses.cap_reply import capped_client
from weighbeam.senses.ports import Telling
from weighbeam.senses.read_chat import Unusable, read_chat

KEY_VARIABLE = "WEIGHBEAM_NARRATOR_KEY"
SECONDS = 60.0
RETRIES = 3
MOST_TOKENS = 1200
MOST_BYTES = 256 * 1024
HEADER_TEXT = re.compile(r"[!-~]+")
REMEDY = "check the narrator's address, model name and key"


class OpenAINarrator:
    """Tells through `model` at `url`; the key comes from the environment and goes to that address only."""

    def __init__(self, model: str, url: str, key: str | None = None, seconds: float = SECONDS) -> None:
        try:
            import openai
        except ImportError:
            raise WeighbeamError(
                "no_openai", "the openai client is not installed", "pip install 'weighbeam[openai]'"
            ) from None
        secret = key or os.environ.get(KEY_VARIABLE) or "none"
        require(
            HEADER_TEXT.fullmatch(secret) is not None,
            "bad_narrator",
            f"{KEY_VARIABLE} holds characters that no header can carry",
            "give the key alone, without blanks or line ends",
        )
        _check_address(url)
        self._openai: Any = openai
        self._model, self._url, self._key, self._seconds = model, url, secret, seconds
        self.id = f"openai:{model}@{url}"

    def tell(self, request: Telling) -> str:
        """The model's text. Its own thread waits for it, so that not even a resolver that hangs holds the caller."""
        outcome: list[str | Exception] = []

        def work() -> None:
            try:
                outcome.append(asyncio.run(self._ask(request)))
            except Exception as fault:
                outcome.append(fault)

        thread = threading.Thread(target=work, name="narrator", daemon=True)
        thread.start()
        thread.join(self._seconds)
        result = outcome[0] if outcome else TimeoutError()
        if isinstance(result, str):
            return result
        raise WeighbeamError("narrator_fault", f"{self.id}: {self._describe(result)}", REMEDY) from None

    async def _ask(self, request: Telling) -> str:
        async with (
            asyncio.timeout(self._seconds),
            capped_client(MOST_BYTES, self._seconds) as http,
        ):
            client = self._openai.AsyncOpenAI(
                base_url=self._url, api_key=self._key, max_retries=RETRIES, timeout=self._seconds, http_client=http
            )
            reply = await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[{"role": "system", "content": request.system}, {"role": "user", "content": request.data}],
                temperature=0,
                max_tokens=MOST_TOKENS,
            )
        text = read_chat(reply.content)
        if self._key != "none" and self._key in text:
            raise Unusable("the reply holds the key")
        return text

    def _describe(self, fault: Exception) -> str:
        """In our own words: the client's and the server's may hold the key."""
        if isinstance(fault, (TimeoutError, self._openai.APITimeoutError)):
            return f"no reply within {self._seconds:g} s"
        if isinstance(fault, self._openai.APIStatusError):
            return f"the server answered {fault.status_code}"
        if isinstance(fault, self._openai.APIConnectionError):
            return "the connection failed"
        if isinstance(fault, Unusable):
            return str(fault)
        return f"the reply cannot be used ({type(fault).__name__})"


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        plain = plain and not parts.query and not parts.fragment
    except ValueError:
        plain = False
    require(
        plain,
        "bad_narrator",
        "the narrator's address is not a plain http or https URL",
        f"write http://HOST:PORT/v1 without user, query or fragment; the key goes into {KEY_VARIABLE}",
    )
