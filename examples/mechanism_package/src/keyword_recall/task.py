"""What is asked: keywords, checked before anyone is asked for them."""

from collections.abc import Mapping
from typing import Any

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import require
from weighbeam.mechanisms.contract import Seed, Task

WORDS = ("tide", "moon", "beam", "scale", "chalk", "harbour", "kiln", "meadow")
MOST_KEYWORDS = 100


def generate_task(seed: Seed) -> Task:
    """Two keywords that nobody can know before the seed is drawn."""
    first = int(digest_text(str(seed))[:8], 16) % len(WORDS)
    return Task(f"recall-{first}", {"keywords": [WORDS[first], WORDS[(first + 3) % len(WORDS)]]})


def read_keywords(body: Mapping[str, Any]) -> list[str]:
    """The keywords of a task, or `bad_task`. One may be several words."""
    keywords: Any = body.get("keywords")
    listed = isinstance(keywords, list) and 0 < len(keywords) <= MOST_KEYWORDS
    require(listed, "bad_task", "keywords is no list of words", f"give a list of 1 to {MOST_KEYWORDS} words")
    words = all(isinstance(word, str) and word.strip() for word in keywords)
    require(words, "bad_task", "a keyword is no text", "give each keyword as a string")
    return list(keywords)
