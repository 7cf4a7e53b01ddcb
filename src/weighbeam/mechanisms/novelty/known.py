"""Gather the facts of a contribution from what is known: a desk's store, or contributions held in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.compare import ReadText, compare_texts, read_text
from weighbeam.mechanisms.novelty.facts import Kin, Look, NoveltyFacts, find_kin_cut, is_undecided
from weighbeam.mechanisms.novelty.identity import normalise_embedded
from weighbeam.mechanisms.novelty.measure import MeasuredText, read_embedded
from weighbeam.mechanisms.novelty.params import NEAREST, NoveltyParams
from weighbeam.mechanisms.novelty.spelling import count_known, hash_runs, hash_triples
from weighbeam.senses.ports.protocols import Entailment

MAX_LOOKS = 5
MAX_KIN = 8
MAX_SEEN, MAX_OWN = 1000, 100
"""Of one contributor's newest contributions in a window that earned something, those charged most are compared: many
worthless ones do not push the others out."""
KIN_RUNS = 10
"""An earlier text with one in this many of a new text's runs is kin: a fifth of the letters, since half are kept."""
FEW_TRIPLES = 4
"""Fewer than six words."""
MAX_JUDGED, MAX_JUDGED_LETTERS = 80, 600
"""Words and characters of a text that is judged for entailment: a longer one is more than one statement, and costs."""
LONG, KEPT_READ, KEPT_LONG = 2000, 4096, 256
"""A text of 20,000 characters takes 0.4 MB when it is read: of more than 2,000 characters only the latest are kept."""
Nearest = tuple[str, int]
"""The nearest contribution, and its similarity in millionths."""


class KnownTexts(Protocol):
    """Known texts, as the second look queries them."""

    def count_rows(self) -> int: ...

    def find_owners(self, runs: Sequence[int]) -> Mapping[int, str]:
        """First owners of the known runs."""
        ...

    def load_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Texts by id; one that was withdrawn is missing."""
        ...

    def measure(self, ids: Sequence[str], rows: NDArray[np.int32]) -> Mapping[str, int]:
        """The highest cosine of any of `rows` to any row of each, in millionths."""
        ...

    def list_own(self, contributor: str, limit: int) -> Sequence[tuple[str, int]]:
        """The contributor's newest in the window that were paid or held, and what each counts for."""
        ...


def gather_facts(
    measured: MeasuredText,
    contributor: str | None,
    nearest: Nearest | None,
    sentences: Sequence[int],
    known: KnownTexts,
    params: NoveltyParams,
    entailment: Entailment | None = None,
) -> NoveltyFacts | None:
    """None if the parameters ask for no more than the nearest cosine; `sentences` are the cosines of each one's own.
    Without an `entailment` sense nobody is asked what follows from what."""
    if measured.read is None:
        return None
    runs = hash_runs(measured.read.all_letters)
    every = hash_triples(measured.read.all_words)
    owners = known.find_owners([*runs, *every])
    triples = every if measured.read.is_short else []
    shared = Counter(owners[run] for run in (*runs, *triples) if run in owners)
    ids = list(dict.fromkeys([*([nearest[0]] if nearest else []), *_rank(shared)]))[:MAX_LOOKS]
    written = known.load_texts(ids)
    texts = {id: read_known(text) for id, text in written.items()}
    others = [id for id in ids if nearest is None or id != nearest[0]]
    near = {**known.measure(others, measured.windows), **(dict([nearest]) if nearest else {})}
    looks = (Look(id, near[id], compare_texts(texts[id], measured.read) if id in texts else None) for id in ids)
    covered = count_known(
        measured.read.all_letters, [run in owners for run in runs], (one.all_letters for one in texts.values())
    )
    if triples and all(triple in owners for triple in triples):
        covered = len(measured.read.all_letters)
    made_of = {id for id, count in shared.items() if count * KIN_RUNS >= len(runs)}
    own, kin = _find_kin(measured, contributor, made_of, known, params)
    facts = NoveltyFacts(
        rows=known.count_rows(),
        looks=tuple(looks),
        sentences=tuple(zip(measured.sentences, sentences, strict=True)),
        letters=len(measured.read.all_letters),
        known=covered,
        own=own,
        kin=kin,
    )
    if entailment is None or nearest is None or not is_undecided(nearest[1], facts, params):
        return facts
    return replace(facts, entailed=judge_both(written[nearest[0]], measured.text, entailment))


def judge_both(known: str, new: str, entailment: Entailment) -> tuple[int, int] | None:
    """How far a new text follows from a known one, and that from the new one; None if either is longer than what the
    sense judges as one."""
    both = [read_embedded(normalise_embedded(text), NoveltyParams()) for text in (known, new)]
    if max(len(text.split()) for text in both) > MAX_JUDGED or max(map(len, both)) > MAX_JUDGED_LETTERS:
        return None
    rows = entailment.judge([(both[0], both[1]), (both[1], both[0])])
    return int(rows[0][2]), int(rows[1][2])


def _rank(shared: Counter[str]) -> list[str]:
    """Most runs first, of equals the one that sorts first: no order of a database decides."""
    return sorted(shared, key=lambda one: (-shared[one], len(one), one))


def _find_kin(
    measured: MeasuredText, contributor: str | None, made_of: Set[str], known: KnownTexts, params: NoveltyParams
) -> tuple[int, tuple[Kin, ...]]:
    """Find kin: texts that share runs at any distance; for a text of few words all, as its cosine says little. Of those
    near enough it takes the ones charged most, since the charge is what counts."""
    if contributor is None or params.kin_similarity > NEAREST:
        return 0, ()
    own = dict(sorted(known.list_own(contributor, MAX_SEEN), key=lambda one: -one[1])[:MAX_OWN])
    few = measured.read is not None and len(hash_triples(measured.read.all_words)) < FEW_TRIPLES
    cosines = known.measure(list(own), measured.windows)
    near = {id: MILLION if few or id in made_of else micro for id, micro in cosines.items()}
    cut = find_kin_cut(len(own), params)
    kin = sorted((id for id in near if near[id] >= cut), key=lambda one: (-own[one], -near[one], len(one), one))
    return len(own), tuple(Kin(id, near[id], own[id]) for id in kin[:MAX_KIN])


def read_known(text: str) -> ReadText:
    """A known text for the second look, as it was read when it was new."""
    return _read_long(text) if len(text) > LONG else _read_short(text)


def _read(text: str) -> ReadText:
    return read_text(read_embedded(normalise_embedded(text), NoveltyParams()))


_read_short = lru_cache(maxsize=KEPT_READ)(_read)
_read_long = lru_cache(maxsize=KEPT_LONG)(_read)
