"""Hidden questions: which rounds carry them, and where they come from (spec § 17).

All of it follows from the round's seed, which no miner knows before the answers are in, and none of it is posed: a
round with questions looks like any other.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import is_in_share, seeded_digest
from weighbeam.core.text import FUNCTION_WORDS, find_words
from weighbeam.mechanism.records import Seed, Task
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.measure import Span
from weighbeam.mechanisms.chunking.retrieval.questions import SpanQuestion, parse_questions

HIDDEN_QUESTIONS = 16
"""Of a round: the bank's first, then some made of the document's own sentences."""
PASSAGE = re.compile(r"\S.*?(?:[.!?…][\"'”’»)\]]*(?=\s|\Z)|[。！？]|(?=\n[^\S\n]*\n)|\Z)", re.DOTALL)
MIN_PASSAGE, MAX_PASSAGE = 24, 600
MIN_KEYWORDS = 3
QUESTIONS = "questions"


def hide_questions(params: ChunkingParams, task: Task, seed: Seed) -> Task:
    """The task as its round carries it: with questions if the seed says so, the owner's own before any other."""
    document, own = task.body.get("document"), task.body.get(QUESTIONS)
    body = {name: value for name, value in task.body.items() if name != QUESTIONS}
    if isinstance(document, str) and is_in_share(params.retrieval_share, seed, QUESTIONS):
        drawn = draw_questions(document, seed) if own is None else _choose(parse_questions(own, document), seed)
        body |= {QUESTIONS: [question.as_json() for question in drawn]} if drawn else {}
    return replace(task, body=body)


def draw_questions(document: str, seed: Seed) -> tuple[SpanQuestion, ...]:
    """Questions of the bank about passages of the document, then keywords of its sentences."""
    known = _choose(tuple(_find_known(document)), seed)
    taken = {question.spans for question in known}
    passages = sorted(_find_passages(document), key=lambda span: seeded_digest(seed, "passage", *span))
    made: list[SpanQuestion] = []
    for span in passages:
        if len(known) + len(made) == HIDDEN_QUESTIONS:
            break
        words = _name_keywords(document[slice(*span)], seed)
        if words and (span,) not in taken:
            made.append(SpanQuestion(words, (span,)))
    return (*known, *made)


def _choose(questions: tuple[SpanQuestion, ...], seed: Seed) -> tuple[SpanQuestion, ...]:
    ordered = sorted(questions, key=lambda question: seeded_digest(seed, "question", question.text))
    return tuple(ordered[:HIDDEN_QUESTIONS])


@cache
def load_bank() -> tuple[dict[str, Any], ...]:
    """The questions that come with the package: `{topic, q, quote}`, the quote being a sentence of the topic bank."""
    text = (files("weighbeam.mechanisms.chunking.retrieval") / "bank.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def _find_known(document: str) -> Iterator[SpanQuestion]:
    for row in load_bank():
        at = document.find(row["quote"])
        if at >= 0 and document.find(row["quote"], at + 1) < 0:
            yield SpanQuestion(row["q"], ((at, at + len(row["quote"])),))


def _find_passages(document: str) -> list[Span]:
    """Sentences, roughly: an abbreviation may end one early, which makes a shorter passage and no wrong one.

    >>> text = "Rain fell on the dry hills. It rose again. Corn grew along every river bank!"
    >>> [text[start:end] for start, end in _find_passages(text)]
    ['Rain fell on the dry hills.', 'Corn grew along every river bank!']
    """
    found = (match.span() for match in PASSAGE.finditer(document))
    return [(start, end) for start, end in found if MIN_PASSAGE <= end - start <= MAX_PASSAGE]


def _name_keywords(passage: str, seed: Seed) -> str | None:
    """Half of a passage's content words, drawn by the seed, in the order they have there; of a script without spaces,
    the middle half of its characters.

    >>> _name_keywords("Corn grew along every river bank, and the tall mill turned.", "a")
    'along river bank mill turned'
    """
    content = [word for word in dict.fromkeys(find_words(passage)) if word not in FUNCTION_WORDS]
    if len(content) < MIN_KEYWORDS:
        quarter = len(passage) // 4
        return None if passage.isascii() else passage[quarter : len(passage) - quarter]
    drawn = sorted(content, key=lambda word: seeded_digest(seed, "word", passage, word))
    kept = set(drawn[: max(MIN_KEYWORDS, (len(content) + 1) // 2)])
    return " ".join(word for word in content if word in kept)
