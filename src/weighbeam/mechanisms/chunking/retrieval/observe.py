"""The record of a round with questions: similarities of every chunk with every question, in millionths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.mechanism.records import Task
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.retrieval.embed import compare_texts
from weighbeam.mechanisms.chunking.retrieval.questions import SpanQuestion, parse_borders, parse_depths, parse_questions
from weighbeam.senses.ports.protocols import Embedder


@dataclass(frozen=True, slots=True)
class ObservedRetrieval:
    """Additions of a round's questions to its observation; empty where it has none."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def find_questions(task: Task, document: ReferenceDocument) -> tuple[SpanQuestion, ...]:
    """The questions of a task. Nobody who asks from outside can set any."""
    given = task.body.get("questions") if task.kind == "synthetic" else None
    return () if given is None else parse_questions(given, document.text)


def observe_retrieval(
    task: Task,
    document: ReferenceDocument,
    answers: Sequence[Mapping[str, Any]],
    texts: Sequence[str],
    embedder: Embedder,
) -> ObservedRetrieval:
    """Compare the chunks of all valid answers with the task's questions, and note its true borders, if it has any."""
    facts: dict[str, Any] = {}
    if task.kind == "synthetic" and task.body.get("borders") is not None:
        facts["borders"] = list(parse_borders(task.body["borders"], len(document.text)))
    questions = find_questions(task, document)
    if not questions:
        return ObservedRetrieval(facts)
    depths, tokens = parse_depths(task.body)
    chunks = sorted({number for answer in answers if answer["check"]["ok"] for number in answer["chunks"]})
    compared = compare_texts([texts[number] for number in chunks], [one.text for one in questions], embedder)
    asked = [number for number in range(len(questions)) if number not in compared.missing_questions]
    kept = [questions[number] for number in asked]
    facts["retrieval"] = {
        "questions": [{"text": digest_text(one.text), "spans": [list(span) for span in one.spans]} for one in kept],
        "chunks": chunks,
        "tokens": [len(piece.letters) for piece in document.read([texts[number] for number in chunks])],
        "missing": [chunks[place] for place in compared.missing_texts],
        "k": depths,
        "token_budget": tokens,
    }
    named = {digest_text(one.text): one.text for one in kept}
    return ObservedRetrieval(facts, {"retrieval": compared.similarities[:, asked]}, named, compared.faults)
