"""Seeded documents from shipped paragraphs on many topics, with their true borders (spec § 14)."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import require
from weighbeam.mechanisms.contract import Seed

BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Generated:
    """A document and the character offsets at which its topic changes."""

    text: str
    topics: tuple[str, ...]
    borders: tuple[int, ...]


@cache
def read_bank() -> dict[str, tuple[str, ...]]:
    """Paragraphs by topic."""
    folder = files("weighbeam.mechanisms.chunking") / "topics"
    found = {path.name.removesuffix(".txt"): path.read_text("utf-8") for path in folder.iterdir()}
    return {topic: tuple(found[topic].strip().split(BREAK)) for topic in sorted(found)}


def generate_document(seed: Seed, characters: int, run: int = 3) -> Generated:
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
    for topic, paragraphs in read_bank().items():
        rest = sorted(paragraphs, key=lambda text: seeded_digest(seed, lap, text))
        while rest:
            size = 1 + int(seeded_digest(seed, lap, topic, len(rest))[:8], 16) % run
            part, rest = rest[:size], rest[size:]
            runs.append((seeded_digest(seed, lap, "run", part[0]), topic, part))
    return [(topic, text) for _, topic, part in sorted(runs) for text in part]


def _join(paragraphs: list[tuple[str, str]]) -> Generated:
    borders: list[int] = []
    topics: list[str] = []
    at = 0
    for topic, text in paragraphs:
        if topics and topics[-1] != topic:
            borders.append(at)
        if not topics or topics[-1] != topic:
            topics.append(topic)
        at += len(text) + len(BREAK)
    return Generated(BREAK.join(text for _, text in paragraphs), tuple(topics), tuple(borders))
