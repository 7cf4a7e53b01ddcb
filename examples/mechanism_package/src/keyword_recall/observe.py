"""The one stage that reads answers: what it finds is journaled, and nothing after it sees a text again."""

from typing import Any

from keyword_recall.task import read_keywords
from weighbeam.mechanisms.contract import Answer, Asked, Observation

PUNCTUATION = ".,;:!?\"'()[]"


def observe_round(asked: Asked) -> Observation:
    """Per answer: how many words it has, and which keywords it lacks."""
    keywords = read_keywords(asked.task.body)
    return Observation({"keywords": len(keywords), "rows": [_observe(answer, keywords) for answer in asked.answers]})


def _observe(answer: Answer, keywords: list[str]) -> dict[str, Any]:
    """A payload comes from a stranger: anything may be in it, or missing."""
    text = answer.payload.get("text") if isinstance(answer.payload, dict) else None
    words = [word.strip(PUNCTUATION).lower() for word in text.split()] if isinstance(text, str) else []
    missing = [keyword for keyword in keywords if keyword.lower() not in words]
    return {"hotkey": answer.hotkey, "status": answer.status, "words": len(words), "missing": missing}
