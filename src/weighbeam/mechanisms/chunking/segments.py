"""Three sentences make a segment, and a seeded choice says which segments are embedded (spec §§ 4, 5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Seed


@dataclass(frozen=True, slots=True)
class Segment:
    chunk: int
    text: str


def squeeze(text: str) -> str:
    """Each run of white space becomes one space, none at the ends.

    >>> squeeze("  Ash \\n drifts. ")
    'Ash drifts.'
    """
    return " ".join(text.split())


def locate_sentences(text: str, sentences: Iterable[str]) -> list[int]:
    """Where each sentence of a text begins, the first at 0.

    >>> locate_sentences(" One. Two.", ["One.", "Two."])
    [0, 6]
    """
    starts: list[int] = []
    at = 0
    for sentence in sentences:
        at = text.index(sentence, at)
        starts.append(at if starts else 0)
        at += len(sentence)
    return starts or [0]


def segment_chunk(sentences: Sequence[str], per_segment: int) -> list[str]:
    """The segments of one chunk, from its start.

    >>> segment_chunk(["One.", " Two. ", "", "Three.", "Four."], 3)
    ['One. Two. Three.', 'Four.']
    """
    clean = [text for text in map(squeeze, sentences) if text]
    return [" ".join(clean[i : i + per_segment]) for i in range(0, len(clean), per_segment)]


def sample_segments(segments: Sequence[Segment], seed: Seed, limit: int | None) -> list[int]:
    """Indices of the `limit` segments with the smallest seeded keys, ascending.

    A key depends on the text and on how many equal texts came before it in the answer, so two answers that share
    a segment sample it alike.
    """
    if limit is None or len(segments) <= limit:
        return list(range(len(segments)))
    seen: dict[str, int] = {}
    keys: list[tuple[str, int]] = []
    for index, segment in enumerate(segments):
        nth = seen.get(segment.text, 0)
        seen[segment.text] = nth + 1
        keys.append((seeded_digest(seed, nth, segment.text), index))
    return sorted(index for _, index in sorted(keys)[:limit])
