"""Claims of a round's answers, read by the kind of its question (spec §§ 18, 19): part of observing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.agreement.claims import Claims, measure_agreement
from weighbeam.mechanisms.inference.agreement.denials import contradict_briefly, measure_denials
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far answers agree, in millionths; how much more than the middle one each is denied, if that was asked; and
    what our own sense could not do."""

    matrix: NDArray[np.int32]
    denied: NDArray[np.float64] | None
    faults: tuple[str, ...]


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
    ) -> Agreement:
        """The agreement of all texts."""
        trials = plan_trials(self.prompt.raw) if self.kind == "code" else None
        judged = judge_texts_by_kind(self.traits, [len(text.words) for text in self.texts], self.task, arrays, 0.0)
        heard = [not one.flagged for one in judged]
        contradiction, denied, faults = self._deny(heard, arrays["similarity"], vectors, entailment)
        claims = Claims(
            kind=self.kind,
            heard=heard,
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
            denied=denied,
        )
        return Agreement(measure_agreement(claims), denied, tuple(faults))

    def _deny(
        self,
        heard: Sequence[bool],
        similarity: NDArray[np.int32],
        vectors: TextVectors,
        entailment: Entailment | None,
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, list[str]]:
        """How far short answers contradict each other, or long ones are denied; and what the sense could not do."""
        if entailment is None:
            return None, None, []
        if self.kind == "short":
            contradiction, faults = contradict_briefly(self.prompt.last_line, self.texts, entailment)
            return contradiction, None, faults
        if self.kind != "open":
            return None, None, []
        compared = [
            number
            for number, (passed, own) in enumerate(zip(heard, self.traits, strict=True))
            if passed and own.language == "en"
        ]
        denied, faults = measure_denials(self.texts, compared, similarity, vectors, entailment)
        return None, denied, faults


def _cut_fresh(text: ParsedText, fresh: frozenset[str]) -> list[frozenset[str]]:
    """The new stems of each sentence."""
    return [fresh.intersection(list_stems(sentence, text.language)) for sentence in text.sentences]


def read_by_kind(question: ParsedPrompt, prompt: ParsedText, texts: Sequence[ParsedText]) -> KindReading:
    """The kind of the round, from prompt and answers together, and the counts of each answer."""
    kind = find_kind(prompt.clean, [text.clean for text in texts if text.words])
    asked = read_prompt(prompt)
    fresh = find_fresh(texts, asked, kind)
    traits = [find_traits(text, asked, kind, question.prose, place, fresh) for place, text in enumerate(texts)]
    task = {"asks": kind, "language": asked.language, "triples": len(asked.triples)}
    return KindReading(kind, prompt, texts, fresh.each, traits, task)
