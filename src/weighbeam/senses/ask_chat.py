"""One question to any OpenAI-compatible chat endpoint (extra `weighbeam[openai]`).

The endpoint is trusted with nothing: one deadline covers every retry and every byte, a reply has a greatest size, and
no fault repeats what the server said, since that may hold the key.
"""

import asyncio
import re
import threading
from typing import Any, Literal
from urllib.parse import urlsplit

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.senses.cap_reply import capped_client
from weighbeam.senses.ports import Telling
from weighbeam.senses.read_chat import Filtered, Unusable, read_chat

MOST_BYTES = 256 * 1024
HEADER_TEXT = re.compile(r"[!-~]+")
NO_KEY = "none"
FILTER_CODE = "content_filter"

Kind = Literal["timeout", "filtered", "other"]


class ChatFault(Exception):
    """Why there is no text, in our own words; `kind` tells the two cases in which asking again is of no use."""

    def __init__(self, what: str, kind: Kind = "other") -> None:
        super().__init__(what)
        self.kind = kind


class ChatEndpoint:
    """Asks `model` at `url` at temperature 0 and without tools; the key goes to that address only."""

    def __init__(self, model: str, url: str, key: str | None, seconds: float, retries: int, most_tokens: int) -> None:
        try:
            import openai
        except ImportError:
            raise WeighbeamError(
                "no_openai", "the openai client is not installed", "pip install 'weighbeam[openai]'"
            ) from None
        self._openai: Any = openai
        self._model, self._url, self._key, self._seconds = model, url, key or NO_KEY, seconds
        self._retries, self._most_tokens = retries, most_tokens
        self.id = f"openai:{model}@{url}"

    def ask(self, request: Telling) -> str:
        """The model's text. Its own thread waits for it, so that not even a resolver that hangs holds the caller."""
        outcome: list[str | Exception] = []

        def work() -> None:
            try:
                outcome.append(asyncio.run(self._ask(request)))
            except Exception as fault:
                outcome.append(fault)

        thread = threading.Thread(target=work, name="chat", daemon=True)
        thread.start()
        thread.join(self._seconds)
        result = outcome[0] if outcome else TimeoutError()
        if isinstance(result, str):
            return result
        raise self._describe(result) from None

    async def _ask(self, request: Telling) -> str:
        async with (
            asyncio.timeout(self._seconds),
            capped_client(MOST_BYTES, self._seconds) as http,
        ):
            client = self._openai.AsyncOpenAI(
                base_url=self._url,
                api_key=self._key,
                max_retries=self._retries,
                timeout=self._seconds,
                http_client=http,
            )
            reply = await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[{"role": "system", "content": request.system}, {"role": "user", "content": request.data}],
                temperature=0,
                max_tokens=self._most_tokens,
            )
        text = read_chat(reply.content)
        if self._key != NO_KEY and self._key in text:
            raise Unusable("the reply holds the key")
        return text

    def _describe(self, fault: Exception) -> ChatFault:
        """In our own words: the client's and the server's may hold the key."""
        if isinstance(fault, (TimeoutError, self._openai.APITimeoutError)):
            return ChatFault(f"no reply within {self._seconds:g} s", "timeout")
        if isinstance(fault, self._openai.APIStatusError):
            kind: Kind = "filtered" if fault.code == FILTER_CODE else "other"
            return ChatFault(f"the server answered {fault.status_code}", kind)
        if isinstance(fault, self._openai.APIConnectionError):
            return ChatFault("the connection failed")
        if isinstance(fault, Unusable):
            return ChatFault(str(fault), "filtered" if isinstance(fault, Filtered) else "other")
        return ChatFault(f"the reply cannot be used ({type(fault).__name__})")


def check_endpoint(url: str, key: str | None, code: str, variable: str) -> None:
    """Refuse with `code` an address or a key that would end up where it does not belong."""
    require(
        HEADER_TEXT.fullmatch(key or NO_KEY) is not None,
        code,
        f"{variable} holds characters that no header can carry",
        "give the key alone, without blanks or line ends",
    )
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        plain = plain and not parts.query and not parts.fragment
    except ValueError:
        plain = False
    require(
        plain,
        code,
        "the model's address is not a plain http or https URL",
        f"write http://HOST:PORT/v1 without user, query or fragment; the key goes into {variable}",
    )
