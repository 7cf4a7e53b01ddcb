"""Ask the models about snippets: closeness, entailment, sentiment, second opinions (spec §§ 6, 8, 12)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.embed import embed_texts
from weighbeam.mechanisms.evidence.excerpt.text import clean_text, list_passages
from weighbeam.mechanisms.evidence.excerpt.tokens import drop_citations
from weighbeam.mechanisms.evidence.judge.nli import CLASSES
from weighbeam.mechanisms.evidence.judge.opinions import PendingOpinions
from weighbeam.mechanisms.evidence.judge.request import TAG_DIGITS, Claim
from weighbeam.mechanisms.evidence.pages.context import ObserveContext, ObservedSnippet, time_all
from weighbeam.senses.ports.protocols import Embedder, Entailment

COSINE_DECIMALS = 6
EMBED_BATCH = 64


@dataclass(slots=True)
class Closeness:
    """Vectors in millionths, by text. A missing one is our fault and not the text's if the embedder is `down`, or if
    there was no time for it."""

    rows: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    down: bool = False
    late: set[str] = field(default_factory=set)

    def compare(self, one: str, others: Iterable[str]) -> float | None:
        """The highest cosine of a text with others; None if one of them has no vector, or there is none."""
        known = [self.rows.get(text) for text in (one, *others)]
        vectors = [vector for vector in known if vector is not None]
        if len(vectors) < len(known) or len(vectors) < 2:
            return None
        return max(_cosine(vectors[0], vector) for vector in vectors[1:])

    def is_to_blame(self, texts: Iterable[str]) -> bool:
        """Whether we, and not these texts, are why one of them has no vector."""
        return self.down or not self.late.isdisjoint(texts)


def embed_in_time(
    groups: Iterable[Sequence[str]], embedder: Embedder, known: str, has_time: Callable[[], bool]
) -> Closeness:
    """Each distinct text once, the smallest groups first, so that one who brings much holds up himself and nobody else.

    With every batch goes a text of our own, new each time so that no memory answers for it: if not even that can be
    embedded, the embedder is down; else what cannot be has itself to blame (spec § 9).
    """
    close = Closeness()
    for number, batch in enumerate(_batch(groups)):
        if close.down or not has_time():
            close.late |= set(batch)
        else:
            _embed_batch(close, f"{known} {number}", sorted(set(batch)), embedder)
    return close


def _batch(groups: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    seen: set[str] = set()
    batch: list[str] = []
    for group in sorted(groups, key=lambda group: (len(group), sum(map(len, group)))):
        batch += [text for text in group if text not in seen]
        seen.update(group)
        while len(batch) >= EMBED_BATCH:
            yield batch[:EMBED_BATCH]
            batch = batch[EMBED_BATCH:]
    if batch:
        yield batch


def _embed_batch(close: Closeness, known: str, texts: Sequence[str], embedder: Embedder) -> None:
    every = [known, *texts]
    vectors, missing, faults = embed_texts(every, embedder)
    lost = set(missing)
    close.rows |= {text: vectors[i].astype(np.float64) for i, text in enumerate(every) if i not in lost}
    close.faults |= set(faults)
    close.down = 0 in lost


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return round(min(1.0, max(-1.0, float(one @ other) / MILLION**2)), COSINE_DECIMALS)


MAX_FAULT = 200
NLI_BATCH = 8
TextPair = tuple[str, str]


@dataclass(slots=True)
class PairProbabilities:
    """Probabilities by pair. A missing one is our fault and not the text's if the sense is `down`, or if there was no
    time for it."""

    rows: dict[TextPair, dict[str, float]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    down: bool = False
    late: set[TextPair] = field(default_factory=set)

    def is_to_blame(self, pairs: Iterable[TextPair]) -> bool:
        """Whether we, and not these pairs, are why one of them was not judged."""
        return self.down or not self.late.isdisjoint(pairs)


def infer_in_time(
    pairs: Iterable[TextPair], entailment: Entailment, known: TextPair, has_time: Callable[[], bool]
) -> PairProbabilities:
    """Each distinct pair once, the shortest first, a few at a time while there is time.

    What fails is tried one by one, `known` first: a pair of our own, new each time. If not even that can be judged, the
    sense is down; else what cannot be has itself to blame (spec § 9).
    """
    inferred = PairProbabilities()
    distinct = sorted(set(pairs), key=lambda pair: (len(pair[0]), pair))
    for first in range(0, len(distinct), NLI_BATCH):
        batch = distinct[first : first + NLI_BATCH]
        if inferred.down or not has_time():
            inferred.late |= set(batch)
        else:
            _infer_batch(inferred, batch, entailment, (f"{known[0]} {first}", known[1]))
    return inferred


def _infer_batch(
    inferred: PairProbabilities, pairs: Sequence[TextPair], entailment: Entailment, known: TextPair
) -> None:
    try:
        inferred.rows |= _judge(pairs, entailment)
        return
    except Exception as fault:
        said = _describe_fault(fault)
    try:
        _judge([known], entailment)
    except Exception:
        inferred.faults.add(said)
        inferred.down = True
        return
    for pair in pairs:
        try:
            inferred.rows |= _judge([pair], entailment)
        except Exception as fault:
            inferred.faults.add(_describe_fault(fault))


def _judge(pairs: Sequence[TextPair], entailment: Entailment) -> dict[TextPair, dict[str, float]]:
    return {
        pair: {name: int(value) / MILLION for name, value in zip(CLASSES, row, strict=True)}
        for pair, row in zip(pairs, entailment.judge(pairs), strict=True)
    }


def _describe_fault(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"[:MAX_FAULT]


MIN_COSINE = -1.0


def measure_similarity(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> None:
    watch, statement = round_.watch(), clean_text(round_.statement)
    passages = {one.excerpt: list_passages(clean_text(one.excerpt or "").strip()) for one in looked}
    close = embed_in_time(
        ([statement], *passages.values()),
        round_.senses.embedder,
        round_.make_known_sentence("similarity"),
        round_.hurry.allows("similarity"),
    )
    round_.faults.extend(close.faults)
    for one in looked:
        similarity = close.compare(statement, passages[one.excerpt])
        if similarity is None and not close.is_to_blame((statement, *passages[one.excerpt])):
            similarity = MIN_COSINE
            one.give_up("embedder")
        one.facts["similarity"] = similarity
    time_all(looked, "similarity", watch)


def measure_relevance(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> None:
    watch, statement = round_.watch(), clean_text(round_.statement)
    contexts = [one.facts["match"]["context"] for one in looked]
    close = embed_in_time(
        [[statement], *([context] for context in contexts)],
        round_.senses.embedder,
        round_.make_known_sentence("relevance"),
        round_.hurry.allows("relevance"),
    )
    round_.faults.extend(close.faults)
    for one, context in zip(looked, contexts, strict=True):
        one.facts["relevance"] = close.compare(statement, [context])
        if one.facts["relevance"] is None and not close.is_to_blame((statement, context)):
            one.give_up("embedder")
    time_all(looked, "relevance", watch)


def infer_snippets(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> None:
    """Premise is the page's own wording, with the sentence around it where that says more."""
    watch = round_.watch()
    pairs = {(one.hotkey, one.number): _list_pairs(one, round_.statement) for one in looked}
    known = (round_.make_known_sentence("entailment"), round_.statement)
    every = [pair for several in pairs.values() for pair in several]
    inferred = infer_in_time(every, round_.senses.entailment, known, round_.hurry.allows("infer"))
    round_.faults.extend(inferred.faults)
    for one in looked:
        asked = pairs[one.hotkey, one.number]
        rows = [inferred.rows.get(pair) for pair in asked]
        complete = None not in rows
        one.facts["nli"] = rows[0] if complete else None
        one.facts["nli_context"] = rows[1] if complete and len(rows) > 1 else None
        if not complete and not inferred.is_to_blame(asked):
            one.give_up("entailment")
    time_all(looked, "nli", watch)


def measure_sentiment(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> None:
    """Measure sentiment as a signal, not as a score; a missing value has a reason."""
    for one in looked:
        try:
            one.facts["sentiment"] = round(round_.senses.sentiment.feel(one.facts["match"]["context"]), 6)
        except Exception as fault:
            one.facts["sentiment"] = None
            round_.faults.append(f"sentiment: {type(fault).__name__}")


def ask_opinions(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> PendingOpinions | None:
    """The tag of each request follows from the round's seed, which nobody knew when the page was written."""
    assessor = round_.senses.assessor
    if assessor is None or not looked:
        return None
    claims = [
        (
            Claim(round_.statement, one.facts["match"]["context"], str(one.excerpt), str(one.facts["url"]["url"])),
            seeded_digest(round_.seed, f"assess:{one.hotkey}:{one.number}")[:TAG_DIGITS],
        )
        for one in looked
    ]
    return PendingOpinions(assessor, claims, round_.senses.clock)


def note_opinions(looked: Sequence[ObservedSnippet], opinions: PendingOpinions | None, round_: ObserveContext) -> None:
    """In the order in which they were asked for; what turned out to be unreadable meanwhile needs none."""
    if opinions is None:
        return
    for one, (assessment, seconds) in zip(looked, opinions.collect(round_.hurry.left("assess")), strict=True):
        if one.is_read:
            one.facts["assessment"] = assessment.as_json()
            one.time("assess", seconds)


def _list_pairs(one: ObservedSnippet, statement: str) -> list[tuple[str, str]]:
    return [(premise, statement) for premise in _list_premises(one)]


def _list_premises(one: ObservedSnippet) -> Iterator[str]:
    match = one.facts["match"]
    yield drop_citations(match["text"])
    if len(match["context"]) > len(match["text"]):
        yield drop_citations(match["context"])
