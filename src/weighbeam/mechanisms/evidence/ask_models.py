"""What our models say of snippets: how close they are, what they claim, in which tone (spec §§ 6, 8, 12)."""

from collections.abc import Iterator, Sequence

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanisms.evidence.assess_all import Opinions
from weighbeam.mechanisms.evidence.assess_request import TAG_DIGITS, Claim
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.closeness import embed_in_time
from weighbeam.mechanisms.evidence.infer import infer_in_time
from weighbeam.mechanisms.evidence.looked import Looked, Round, time_all
from weighbeam.mechanisms.evidence.sentences import list_passages
from weighbeam.mechanisms.evidence.tokens import drop_citations

LEAST_COSINE = -1.0


def measure_similarity(looked: Sequence[Looked], round_: Round) -> None:
    watch, statement = round_.watch(), clean_text(round_.statement)
    passages = {one.excerpt: list_passages(clean_text(one.excerpt or "").strip()) for one in looked}
    close = embed_in_time(
        ([statement], *passages.values()),
        round_.senses.embedder,
        round_.write_known("similarity"),
        round_.hurry.allows("similarity"),
    )
    round_.faults.extend(close.faults)
    for one in looked:
        similarity = close.compare(statement, passages[one.excerpt])
        if similarity is None and not close.is_to_blame((statement, *passages[one.excerpt])):
            similarity = LEAST_COSINE
            one.give_up("embedder")
        one.facts["similarity"] = similarity
    time_all(looked, "similarity", watch)


def measure_relevance(looked: Sequence[Looked], round_: Round) -> None:
    watch, statement = round_.watch(), clean_text(round_.statement)
    contexts = [one.facts["match"]["context"] for one in looked]
    close = embed_in_time(
        [[statement], *([context] for context in contexts)],
        round_.senses.embedder,
        round_.write_known("relevance"),
        round_.hurry.allows("relevance"),
    )
    round_.faults.extend(close.faults)
    for one, context in zip(looked, contexts, strict=True):
        one.facts["relevance"] = close.compare(statement, [context])
        if one.facts["relevance"] is None and not close.is_to_blame((statement, context)):
            one.give_up("embedder")
    time_all(looked, "relevance", watch)


def infer(looked: Sequence[Looked], round_: Round) -> None:
    """Premise is the page's own wording, with the sentence around it where that says more."""
    watch = round_.watch()
    pairs = {(one.hotkey, one.number): _list_pairs(one, round_.statement) for one in looked}
    known = (round_.write_known("entailment"), round_.statement)
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


def feel(looked: Sequence[Looked], round_: Round) -> None:
    """A signal and no score: what has no tone is shown without one, and why is told."""
    for one in looked:
        try:
            one.facts["sentiment"] = round(round_.senses.sentiment.feel(one.facts["match"]["context"]), 6)
        except Exception as fault:
            one.facts["sentiment"] = None
            round_.faults.append(f"sentiment: {type(fault).__name__}")


def ask_opinions(looked: Sequence[Looked], round_: Round) -> Opinions | None:
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
    return Opinions(assessor, claims, round_.senses.clock)


def note_opinions(looked: Sequence[Looked], opinions: Opinions | None, round_: Round) -> None:
    """In the order in which they were asked for; what turned out to be unreadable meanwhile needs none."""
    if opinions is None:
        return
    for one, (assessment, seconds) in zip(looked, opinions.collect(round_.hurry.left("assess")), strict=True):
        if one.is_read:
            one.facts["assessment"] = assessment.as_json()
            one.time("assess", seconds)


def _list_pairs(one: Looked, statement: str) -> list[tuple[str, str]]:
    return [(premise, statement) for premise in _list_premises(one)]


def _list_premises(one: Looked) -> Iterator[str]:
    match = one.facts["match"]
    yield drop_citations(match["text"])
    if len(match["context"]) > len(match["text"]):
        yield drop_citations(match["context"])
