"""Small rounds with every kind of answer, for the conformance checks."""

from collections.abc import Sequence

from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Answer, Asked, Group, Reply, Task


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
