"""Claims of a round's answers, read by the kind of its question (spec §§ 18, 19): part of observing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.mechanisms.inference.agreement.claims import Claims, measure_agreement
from weighbeam.mechanisms.inference.reference.claims import prepare
from weighbeam.mechanisms.inference.reference.read import read_value
from weighbeam.mechanisms.inference.task import ParsedPrompt
from weighbeam.mechanisms.inference.text.behaviour import plan_trials, try_function
from weighbeam.mechanisms.inference.text.content import list_stems
from weighbeam.mechanisms.inference.text.cosines import TextVectors
from weighbeam.mechanisms.inference.text.counts import ParsedText
from weighbeam.mechanisms.inference.text.kind_quality import judge_texts_by_kind
from weighbeam.mechanisms.inference.text.kinds import Kind, find_kind
from weighbeam.mechanisms.inference.text.traits import TextTraits, find_fresh, find_traits, read_prompt
from weighbeam.senses.ports.protocols import Entailment

MAX_COMPARED = 16
"""Most short answers that the entailment sense compares: 240 pairs."""
MAX_SAID, MAX_LETTERS = 80, 800
"""Words and characters of an answer that is compared so: a sign costs the sense as much as a word."""
MAX_ASKED = 200


@dataclass(frozen=True, slots=True)
class KindReading:
    """A round as its kind reads it."""

    kind: Kind
    prompt: ParsedText
    texts: Sequence[ParsedText]
    fresh: Sequence[frozenset[str]]
    traits: Sequence[TextTraits]
    task: Mapping[str, Any]

    def agree(
        self, arrays: Mapping[str, NDArray[Any]], vectors: TextVectors, entailment: Entailment | None
    ) -> tuple[NDArray[np.int32], list[str]]:
        """The agreement of all texts, and what our own sense could not do."""
        contradiction, faults = self._contradict(entailment)
        trials = plan_trials(self.prompt.raw) if self.kind == "code" else None
        judged = judge_texts_by_kind(self.traits, [len(text.words) for text in self.texts], self.task, arrays, 0.0)
        claims = Claims(
            kind=self.kind,
            heard=[not one.flagged for one in judged],
            fresh=self.fresh,
            cosines=arrays["similarity"] / MILLION,
            to_prompt=arrays["prompt_cosines"] / MILLION,
            support=vectors.support([text.sentences for text in self.texts]),
            values=[read_value(prepare(text.raw))["value"] for text in self.texts] if self.kind == "number" else [],
            trials=trials,
            results=[] if trials is None else [try_function(trials, text.raw) for text in self.texts],
            contradiction=contradiction,
            said=[_cut_fresh(text, own) for text, own in zip(self.texts, self.fresh, strict=True)]
            if self.kind == "short"
            else (),
        )
        return measure_agreement(claims), faults

    def _contradict(self, entailment: Entailment | None) -> tuple[NDArray[np.float64] | None, list[str]]:
        """How far each two short answers contradict each other, in either order, the question before both."""
        said = [number for number, text in enumerate(self.texts) if is_brief(text)]
        if entailment is None or self.kind != "short" or not 2 <= len(said) <= MAX_COMPARED:
            return None, []
        asked = self.prompt.last_line[-MAX_ASKED:]
        full = [f"{asked} {self.texts[number].clean}" for number in said]
        pairs = [(one, other) for one in full for other in full]
        try:
            judged = entailment.judge(pairs)[:, 0].reshape(len(said), len(said)) / MILLION
        except Exception as fault:
            return None, [describe_exception(fault)]
        found = np.zeros((len(self.texts), len(self.texts)))
        found[np.ix_(said, said)] = (judged + judged.T) / 2
        np.fill_diagonal(found, 0.0)
        return found, []


def _cut_fresh(text: ParsedText, fresh: frozenset[str]) -> list[frozenset[str]]:
    """The new stems of each sentence."""
    return [fresh.intersection(list_stems(sentence, text.language)) for sentence in text.sentences]


def is_brief(text: ParsedText) -> bool:
    """
    >>> [is_brief(ParsedText(text)) for text in ("Rugby.", "", "!" * 900, "rugby " * 80)]
    [True, False, False, False]
    """
    return 0 < len(text.words) < MAX_SAID and len(text.clean) <= MAX_LETTERS


def read_by_kind(question: ParsedPrompt, prompt: ParsedText, texts: Sequence[ParsedText]) -> KindReading:
    """The kind of the round, from prompt and answers together, and the counts of each answer."""
    kind = find_kind(prompt.clean, [text.clean for text in texts if text.words])
    asked = read_prompt(prompt)
    fresh = find_fresh(texts, asked, kind)
    traits = [find_traits(text, asked, kind, question.prose, place, fresh) for place, text in enumerate(texts)]
    task = {"asks": kind, "language": asked.language, "triples": len(asked.triples)}
    return KindReading(kind, prompt, texts, fresh.each, traits, task)
