"""Record of answers to a reference task: the reading of each distinct text."""

from collections.abc import Sequence
from itertools import pairwise

from weighbeam.core.text import clean_text, split_sentences
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.kinds import Reference, parse_reference
from weighbeam.mechanisms.inference.reference.read import Reading, read_answer
from weighbeam.senses.ports.protocols import Entailment, Senses

MAX_SENTENCES = 16
"""Of an answer, from its beginning: what a claim is held against."""


def find_reference(params: InferenceParams, task: Task) -> Reference | None:
    """The reference that a task is judged by. Nobody who asks from outside can set one, and what only a sense can judge
    counts where that sense is to be used."""
    given = task.body.get("reference") if task.kind == "synthetic" else None
    if given is None:
        return None
    reference = parse_reference(given)
    return None if reference.kind == "text" and not params.reference_entailment else reference


def read_texts(
    reference: Reference | None, texts: Sequence[str], senses: Senses
) -> tuple[list[Reading | None], list[str]]:
    """Readings of the texts, and faults of our own senses, whose texts get no reading."""
    if reference is None:
        return [None] * len(texts), []
    if reference.kind != "text":
        return [read_answer(reference, text) for text in texts], []
    try:
        return [_hold_against(reference.claims, text, senses.entailment) for text in texts], []
    except Exception as fault:
        return [None] * len(texts), [describe_exception(fault)]


def _hold_against(claims: Sequence[str], text: str, entailment: Entailment) -> Reading:
    """For each claim the strongest contradiction and the strongest entailment by any sentence or two."""
    sentences = split_sentences(clean_text(text))[:MAX_SENTENCES]
    premises = [*sentences, *(f"{one} {two}" for one, two in pairwise(sentences))]
    if not premises:
        return {"claims": [[0, 0] for _ in claims]}
    judged = entailment.judge([(premise, claim) for claim in claims for premise in premises])
    rows = judged.reshape(len(claims), len(premises), 3)
    return {"claims": [[int(row[: len(sentences), 0].max()), int(row[:, 2].max())] for row in rows]}
