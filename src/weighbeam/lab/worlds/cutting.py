"""Documents whose true borders are known, and cuts that come more or less near them.

Everything is cut between sentences, so a document has few segments, however many ways there are to cut it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.miners.chunkers.packing import cut_at, sentence_starts
from weighbeam.senses.ports import Senses

DOCUMENTS = 12
CHARACTERS = 5000
CHUNK_SIZE = 2000
CHUNK_QTY = 14
LEAST_ERRORS, MORE_ERRORS = 2, 8
FARTHEST = 4
TRIES = 4


@dataclass(frozen=True, slots=True)
class Known:
    """A document, where its sentences start, and the numbers of the sentences with which a topic begins."""

    text: str
    starts: tuple[int, ...]
    topics: tuple[int, ...]

    def cut(self, sentences: Sequence[int]) -> list[str]:
        """Chunks that begin with these sentences, whatever comes first."""
        return cut_at(self.text, [self.starts[number] for number in sorted({0, *sentences})])

    def fits(self, sentences: Sequence[int]) -> bool:
        return len(sentences) < CHUNK_QTY and all(len(chunk) <= CHUNK_SIZE for chunk in self.cut(sentences))


def make_documents(senses: Senses) -> tuple[Known, ...]:
    """The first documents whose every topic fits a chunk."""
    found: list[Known] = []
    number = 0
    while len(found) < DOCUMENTS:
        made = generate_document(f"lab/{number}", CHARACTERS, run=2)
        starts = sentence_starts(made.text, senses)
        known = Known(made.text, tuple(starts), tuple(starts.index(border) for border in made.borders))
        number += 1
        if known.fits(known.topics):
            found.append(known)
    return tuple(found)


def cut_with_skill(known: Known, skill: float, chance: np.random.Generator) -> list[str]:
    """The true borders with errors: cuts moved by sentences, forgotten or added, the more the less skill there is."""
    cuts = set(known.topics)
    errors = LEAST_ERRORS + int(chance.binomial(MORE_ERRORS, 1 - skill))
    for _ in range(TRIES * errors):
        changed = _err(cuts, known, 1 + int((FARTHEST - 1) * (1 - skill) + chance.random()), chance)
        if changed != cuts and known.fits(sorted(changed)):
            cuts, errors = changed, errors - 1
        if not errors:
            break
    return known.cut(sorted(cuts))


def _err(cuts: set[int], known: Known, reach: int, chance: np.random.Generator) -> set[int]:
    kind = chance.random()
    one = int(chance.choice(sorted(cuts))) if cuts else 0
    other = int(chance.integers(1, len(known.starts)))
    if kind < 0.6:
        step = int(chance.integers(1, reach + 1)) * (1 if chance.random() < 0.5 else -1)
        other = min(max(1, one + step), len(known.starts) - 1)
    if kind < 0.8:
        cuts = cuts - {one}
    return cuts if 0.6 <= kind < 0.8 else cuts | {other}
