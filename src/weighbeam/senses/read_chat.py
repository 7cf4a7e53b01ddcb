"""The text in a reply of `/chat/completions`."""

import json
from typing import Any


class Unusable(Exception):
    """A reply that is not a text, said in our own words and none of the server's."""


class Filtered(Unusable):
    """A reply that a content filter withheld or cut."""


def read_chat(data: bytes) -> str:
    """The content of the one choice; anything else is `Unusable`.

    >>> read_chat(b'{"choices": [{"message": {"content": "Seven miners were asked."}}]}')
    'Seven miners were asked.'
    """
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        raise Unusable("the reply is not JSON") from None
    choice = _only(reply.get("choices") if isinstance(reply, dict) else None)
    if choice.get("finish_reason") == "content_filter":
        raise Filtered("a content filter withheld the text")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unusable("the reply holds no message")
    if message.get("tool_calls") or message.get("function_call"):
        raise Unusable("the model called a tool instead of telling")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise Unusable("the reply holds no text")
    if choice.get("finish_reason") == "length":
        raise Unusable("the model did not come to an end")
    return content


def _only(choices: Any) -> dict[str, Any]:
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise Unusable("the reply does not hold exactly one choice")
    return choices[0]
