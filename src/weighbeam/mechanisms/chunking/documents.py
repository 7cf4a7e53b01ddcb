"""Seeded documents with their true borders, the synthetic tasks made of them, and example rounds for the conformance
checks (spec § 14).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.mechanism.records import Answer, Asked, Group, Reply, Seed, Task
from weighbeam.mechanism.topic_bank import BREAK, load_topics
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.retrieval.questions import parse_questions


@dataclass(frozen=True, slots=True)
class GeneratedDocument:
    """A document and the character offsets at which its topic changes."""

    text: str
    topics: tuple[str, ...]
    borders: tuple[int, ...]


def generate_document(seed: Seed, characters: int, run: int = 3) -> GeneratedDocument:
    """About `characters` of text in runs of 1 to `run` paragraphs on one topic.

    No paragraph repeats until the bank is used up. A border is where the topic changes.
    """
    require(characters >= 1, "bad_size", f"{characters} characters", "ask for at least 1")
    paragraphs: list[tuple[str, str]] = []
    size = lap = 0
    while size < characters:
        for topic, text in _one_lap(seed, lap, run):
            if size >= characters:
                break
            paragraphs.append((topic, text))
            size += len(text) + len(BREAK)
        lap += 1
    return _join(paragraphs)


def _one_lap(seed: Seed, lap: int, run: int) -> list[tuple[str, str]]:
    """Every paragraph of the bank once, in seeded order and seeded runs."""
    runs: list[tuple[str, str, list[str]]] = []
    for topic, paragraphs in load_topics().items():
        rest = sorted(paragraphs, key=lambda text: seeded_digest(seed, lap, text))
        while rest:
            size = 1 + int(seeded_digest(seed, lap, topic, len(rest))[:8], 16) % run
            part, rest = rest[:size], rest[size:]
            runs.append((seeded_digest(seed, lap, "run", part[0]), topic, part))
    return [(topic, text) for _, topic, part in sorted(runs) for text in part]


def _join(paragraphs: list[tuple[str, str]]) -> GeneratedDocument:
    borders: list[int] = []
    topics: list[str] = []
    at = 0
    for topic, text in paragraphs:
        if topics and topics[-1] != topic:
            borders.append(at)
        if not topics or topics[-1] != topic:
            topics.append(topic)
        at += len(text) + len(BREAK)
    return GeneratedDocument(BREAK.join(text for _, text in paragraphs), tuple(topics), tuple(borders))


MIN_CHARACTERS, MAX_CHARACTERS = 6_000, 20_000


def generate_task(seed: Seed) -> Task:
    """A document between 6,000 and 20,000 characters long.

    >>> 6_000 <= len(generate_task("a").body["document"]) < 22_000
    True
    """
    span = MAX_CHARACTERS - MIN_CHARACTERS + 1
    characters = MIN_CHARACTERS + int(seeded_digest(seed, "characters")[:8], 16) % span
    return Task(f"generated-{seeded_digest(seed, 'task')[:16]}", {"document": generate_document(seed, characters).text})


def parse_document(name: str, text: str) -> Task:
    """A task of one document, as it is in its file, or of a JSON object `{document, questions?}`."""
    given = _parse_object(text)
    try:
        if given is not None:
            return _parse_questioned(given)
        ReferenceDocument(text)
    except WeighbeamError as fault:
        raise WeighbeamError("bad_task", f"{name} cannot be a task: {fault.message}", fault.remedy) from None
    return Task(f"document-{digest_text(text)[:16]}", {"document": text})


def _parse_object(text: str) -> dict[str, Any] | None:
    """The object that a text spells out, if that has a document; any other JSON is a document itself."""
    try:
        read = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) and "document" in read else None


def _parse_questioned(given: dict[str, Any]) -> Task:
    document = ReferenceDocument(given["document"]).text
    body: dict[str, Any] = {"document": document}
    if given.get("questions") is not None:
        body["questions"] = [one.as_json() for one in parse_questions(given["questions"], document)]
    return Task(f"document-{digest_text(document)[:16]}", body)


def example_rounds() -> Sequence[Asked]:
    """Two rounds: one of good and bad chunkings, one in which nobody is valid."""
    document = generate_document("example", 4000).text
    paragraphs = document.split("\n\n")
    halves = [p[: p.index(". ", len(p) // 2) + 1] for p in paragraphs]
    rest = [p[len(half) :] for p, half in zip(paragraphs, halves, strict=True)]
    given: list[tuple[str, object, float, Reply]] = [
        ("paragraphs", paragraphs, 1.0, "ok"),
        ("halves", [part for pair in zip(halves, rest, strict=True) for part in pair], 1.0, "ok"),
        ("pairs", ["\n\n".join(paragraphs[i : i + 2]) for i in range(0, len(paragraphs), 2)], 2.5, "ok"),
        ("copy", paragraphs, 1.0, "ok"),
        ("late", paragraphs, 9.5, "ok"),
        ("whole", [document], 0.1, "ok"),
        ("shuffled", paragraphs[::-1], 1.0, "ok"),
        ("inventor", ["Something else entirely.", *paragraphs], 1.0, "ok"),
        ("dropper", paragraphs[:-1], 1.0, "ok"),
        ("wrong-types", [1, None], 1.0, "ok"),
        ("silent", None, 20.0, "timeout"),
        ("our-fault", paragraphs, 1.0, "validator_error"),
    ]
    body = {"document": document, "chunk_size": 1500, "chunk_qty": len(paragraphs) + 4}
    return (_round("example-1", body, given), _round("example-2", body, given[-6:]))


def _round(name: str, body: dict[str, object], given: Sequence[tuple[str, object, float, Reply]]) -> Asked:
    answers = tuple(Answer(hotkey, {"chunks": chunks}, seconds, status) for hotkey, chunks, seconds, status in given)
    return Asked(Task(name, body), Group(tuple(a.hotkey for a in answers)), answers, f"seed-of-{name}")
