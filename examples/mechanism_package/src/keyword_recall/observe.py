"""The one stage that reads texts. What it finds is journaled for good, so it holds numbers and hashes, no text."""

from typing import Any

from keyword_recall.task import read_keywords
from weighbeam.core.canonical import digest_text
from weighbeam.mechanisms.contract import Answer, Asked, Observation

PUNCTUATION = ".,;:!?\"'()[]"


def observe_round(asked: Asked) -> Observation:
    """Per answer: how many words it has, and which keywords it lacks, by their number."""
    keywords = read_keywords(asked.task.body)
    texts = {digest_text(keyword): keyword for keyword in keywords}
    rows = [_observe(answer, keywords) for answer in asked.answers]
    return Observation({"keywords": [digest_text(keyword) for keyword in keywords], "rows": rows}, texts=texts)


def _observe(answer: Answer, keywords: list[str]) -> dict[str, Any]:
    """A payload comes from a stranger: anything may be in it, or missing."""
    text = answer.payload.get("text") if isinstance(answer.payload, dict) else None
    words = _split(text) if isinstance(text, str) else []
    said = f" {' '.join(words)} "
    missing = [number for number, keyword in enumerate(keywords) if f" {' '.join(_split(keyword))} " not in said]
    return {"hotkey": answer.hotkey, "status": answer.status, "words": len(words), "missing": missing}


def _split(text: str) -> list[str]:
    """Words as they are compared.

    >>> _split("The tide, the MOON.")
    ['the', 'tide', 'the', 'moon']
    """
    return [word.strip(PUNCTUATION).lower() for word in text.split()]
