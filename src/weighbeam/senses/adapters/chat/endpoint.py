"""One question to any OpenAI-compatible chat endpoint, capped in time and bytes (extra `weighbeam[openai]`).

The endpoint is trusted with nothing: one deadline covers every retry and every byte, a reply has a greatest size, and
no fault repeats what the server said, since that may hold the key.
"""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.senses.ports.protocols import NarrationRequest


class ChatReplyTooLarge(Exception):
    """A reply beyond the cap, or packed so that its size cannot be known."""


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, limit: int) -> None:
        self._inner, self._left = inner, limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise ChatReplyTooLarge
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def capped_client(max_bytes: int, seconds: float) -> httpx2.AsyncClient:
    """A client whose every reply ends in `ChatReplyTooLarge` after `max_bytes`."""

    async def cap(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ChatReplyTooLarge
        response.stream = _CappedStream(response.stream, max_bytes)

    return httpx2.AsyncClient(
        timeout=seconds,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [cap]},
    )


class UnusableChatReply(Exception):
    """A reply that is not a text, said in our own words and none of the server's."""


class FilteredChatReply(UnusableChatReply):
    """A reply that a content filter withheld or cut."""


def parse_chat(data: bytes) -> str:
    """The content of the one choice; anything else is `UnusableChatReply`.

    >>> parse_chat(b'{"choices": [{"message": {"content": "Seven miners were asked."}}]}')
    'Seven miners were asked.'
    """
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        raise UnusableChatReply("the reply is not JSON") from None
    choice = _only(reply.get("choices") if isinstance(reply, dict) else None)
    if choice.get("finish_reason") == "content_filter":
        raise FilteredChatReply("a content filter withheld the text")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnusableChatReply("the reply holds no message")
    if message.get("tool_calls") or message.get("function_call"):
        raise UnusableChatReply("the model called a tool instead of writing text")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise UnusableChatReply("the reply holds no text")
    if choice.get("finish_reason") == "length":
        raise UnusableChatReply("the model did not finish")
    return content


def _only(choices: Any) -> dict[str, Any]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise UnusableChatReply("the reply does not hold exactly one choice")
    return choices[0]


MAX_BYTES = 256 * 1024
HEADER_TEXT = re.compile(r"[!-~]+")
NO_KEY = "none"
FILTER_CODE = "content_filter"

ChatFaultKind = Literal["timeout", "filtered", "other"]


class ChatFault(Exception):
    """Why there is no text, in our own words; `kind` tells the two cases in which asking again is of no use."""

    def __init__(self, what: str, kind: ChatFaultKind = "other") -> None:
        super().__init__(what)
        self.kind = kind


class ChatEndpoint:
    """Asks `model` at `url` at temperature 0 and without tools; the key goes to that address only."""

    def __init__(self, model: str, url: str, key: str | None, seconds: float, retries: int, max_tokens: int) -> None:
        try:
            import openai
        except ImportError:
            raise WeighbeamError(
                "no_openai", "the openai client is not installed", "pip install 'weighbeam[openai]'"
            ) from None
        self._openai: Any = openai
        self._model, self._url, self._key, self._seconds = model, url, key or NO_KEY, seconds
        self._retries, self._max_tokens = retries, max_tokens
        self.id = f"openai:{model}@{url}"

    def ask(self, request: NarrationRequest) -> str:
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

    async def _ask(self, request: NarrationRequest) -> str:
        async with (
            asyncio.timeout(self._seconds),
            capped_client(MAX_BYTES, self._seconds) as http,
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
                max_tokens=self._max_tokens,
            )
        text = parse_chat(reply.content)
        if self._key != NO_KEY and self._key in text:
            raise UnusableChatReply("the reply holds the key")
        return text

    def _describe(self, fault: Exception) -> ChatFault:
        """In our own words: the client's and the server's may hold the key."""
        if isinstance(fault, (TimeoutError, self._openai.APITimeoutError)):
            return ChatFault(f"no reply within {self._seconds:g} s", "timeout")
        if isinstance(fault, self._openai.APIStatusError):
            kind: ChatFaultKind = "filtered" if fault.code == FILTER_CODE else "other"
            return ChatFault(f"the server answered {fault.status_code}", kind)
        if isinstance(fault, self._openai.APIConnectionError):
            return ChatFault("the connection failed")
        if isinstance(fault, UnusableChatReply):
            return ChatFault(str(fault), "filtered" if isinstance(fault, FilteredChatReply) else "other")
        return ChatFault(f"the reply cannot be used ({type(fault).__name__})")


def check_endpoint(url: str, key: str | None, code: str, variable: str) -> None:
    """Refuse with `code` an address or a key that would end up where it does not belong."""
    require(
        HEADER_TEXT.fullmatch(key or NO_KEY) is not None,
        code,
        f"{variable} holds characters that no header can carry",
        "give only the key, without spaces or line ends",
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
