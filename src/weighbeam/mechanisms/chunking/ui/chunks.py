"""The chunks of an answer one by one, valid or not, each held against the document."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.mechanism.page import AnswerText

MAX_CHUNKS = 200
BEGUN = re.compile(r'"chunks"\s*:\s*\[')
NEXT = re.compile(r"[\s,]*")
NEW, MOVED = "has words that the document does not have in this order", "stands elsewhere in the document"


def list_chunks(_store: Any, task: Mapping[str, Any], payload: Any) -> Sequence[AnswerText]:
    """The first chunks that can be read; none where the answer has no list of texts."""
    chunks = read_chunks(payload)[:MAX_CHUNKS]
    document, at = squeeze(str(task.get("document") or "")), 0
    found = []
    for chunk in chunks:
        words = squeeze(chunk)
        place = document.find(words, at)
        fault = "" if place >= 0 else MOVED if words in document else NEW
        at = place if place >= 0 else at
        found.append(AnswerText(chunk, fault=fault))
    return found


def read_chunks(payload: Any) -> list[str]:
    """
    >>> read_chunks({"chunks": ["a", "b"]}), read_chunks({"chunks": 7}), read_chunks([["not"]])
    (['a', 'b'], [], [])
    >>> read_chunks({"trimmed": {"bytes": 99, "text": '{"chunks":["one","two","thr'}})
    ['one', 'two']
    """
    given = payload if isinstance(payload, Mapping) else {}
    trimmed, chunks = given.get("trimmed"), given.get("chunks")
    if isinstance(trimmed, Mapping) and isinstance(trimmed.get("text"), str):
        return list(_read_trimmed(trimmed["text"]))
    return [one for one in chunks if isinstance(one, str)] if isinstance(chunks, list) else []


def _read_trimmed(text: str) -> list[str]:
    """Whole texts at the beginning of JSON that is cut off somewhere."""
    begun, found = BEGUN.search(text), list[str]()
    at = len(text) if begun is None else begun.end()
    decoder = json.JSONDecoder()
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        if not isinstance(value, str):
            break
        found.append(value)
        gap = NEXT.match(text, at)
        at = at if gap is None else gap.end()
    return found


def squeeze(text: str) -> str:
    return " ".join(text.split())
