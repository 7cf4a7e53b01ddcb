"""The lab world of chunking: documents whose true borders are known, and miners that find them more or less well.

Everything is cut between sentences, so a document has few segments, however many ways there are to cut it.

So many miners that the groups of the mechanism's own size are three: who hides from good opponents has where to go.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.packing import cut_at, sentence_starts
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Senses

DOCUMENTS = 12
CHARACTERS = 5000
CHUNK_SIZE = 2000
CHUNK_QTY = 14
MIN_ERRORS, MORE_ERRORS = 2, 8
FARTHEST = 4
TRIES = 4


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document, where its sentences start, and the numbers of the sentences with which a topic begins."""

    text: str
    starts: tuple[int, ...]
    topics: tuple[int, ...]

    def cut(self, sentences: Sequence[int]) -> list[str]:
        """Chunks that begin with these sentences, whatever comes first."""
        return cut_at(self.text, [self.starts[number] for number in sorted({0, *sentences})])

    def fits(self, sentences: Sequence[int]) -> bool:
        return len(sentences) < CHUNK_QTY and all(len(chunk) <= CHUNK_SIZE for chunk in self.cut(sentences))


def make_documents(senses: Senses) -> tuple[KnownDocument, ...]:
    """The first documents whose every topic fits a chunk."""
    found: list[KnownDocument] = []
    number = 0
    while len(found) < DOCUMENTS:
        made = generate_document(f"lab/{number}", CHARACTERS, run=2)
        starts = sentence_starts(made.text, senses)
        known = KnownDocument(made.text, tuple(starts), tuple(starts.index(border) for border in made.borders))
        number += 1
        if known.fits(known.topics):
            found.append(known)
    return tuple(found)


def cut_with_skill(known: KnownDocument, skill: float, chance: np.random.Generator) -> list[str]:
    """The true borders with errors: cuts moved by sentences, forgotten or added, the more the less skill there is."""
    cuts = set(known.topics)
    errors = MIN_ERRORS + int(chance.binomial(MORE_ERRORS, 1 - skill))
    for _ in range(TRIES * errors):
        changed = _err(cuts, known, 1 + int((FARTHEST - 1) * (1 - skill) + chance.random()), chance)
        if changed != cuts and known.fits(sorted(changed)):
            cuts, errors = changed, errors - 1
        if not errors:
            break
    return known.cut(sorted(cuts))


def _err(cuts: set[int], known: KnownDocument, reach: int, chance: np.random.Generator) -> set[int]:
    kind = chance.random()
    one = int(chance.choice(sorted(cuts))) if cuts else 0
    other = int(chance.integers(1, len(known.starts)))
    if kind < 0.6:
        step = int(chance.integers(1, reach + 1)) * (1 if chance.random() < 0.5 else -1)
        other = min(max(1, one + step), len(known.starts) - 1)
    if kind < 0.8:
        cuts = cuts - {one}
    return cuts if 0.6 <= kind < 0.8 else cuts | {other}


MIN_SECONDS, MORE_SECONDS = 1.0, 0.6


class ChunkingWorld:
    """Observed and judged by the mechanism itself, with the senses that a validator has."""

    honest = 48

    def __init__(self, params: Mapping[str, Any], senses: LocalSenses) -> None:
        self.mechanism: Mechanism = Chunking()
        made = make_params(self.mechanism, params)
        assert isinstance(made, ChunkingParams)
        self.params = made
        self.senses = senses
        self.documents = make_documents(senses)

    def begin(self, seed: int) -> None:
        """No season leaves anything behind."""

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        place = int(chance.integers(len(self.documents)))
        body = {"document": self.documents[place].text, "chunk_size": CHUNK_SIZE, "chunk_qty": CHUNK_QTY}
        task = Task(f"document-{place}", body)
        if not self.params.retrieval_share:
            return task
        return self.mechanism.finish_task(self.params, task, str(chance.integers(1 << 60)))

    def _find_document(self, task: Task) -> KnownDocument:
        return self.documents[int(task.id.removeprefix("document-"))]

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return self.mechanism.choose(self.params, standings, hotkeys, seed)

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        """The true borders, with errors; who finds fewer of them is slower as well."""
        chunks = cut_with_skill(self._find_document(turn.task), turn.me.skill, turn.chance)
        seconds = MIN_SECONDS + MORE_SECONDS * (2 - turn.me.skill) * turn.chance.exponential()
        return SimulatedAnswer({"chunks": chunks}, float(seconds))

    def observe(self, asked: Asked) -> Observation:
        return self.mechanism.observe(self.params, asked, self.senses)

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """Find miners that copied an answer, or whose words are not a chunking."""
        miners = observation.facts["miners"]
        given = Counter(miner["answer"] for miner in miners)
        copied = {miner["hotkey"] for miner in miners if given[miner["answer"]] > 1}
        return copied | {score.hotkey for score in scored.scores if self.mechanism.suspicious.keys() & score.reasons}
