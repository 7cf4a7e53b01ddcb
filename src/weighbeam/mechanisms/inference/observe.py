"""The only part of inference that needs a model: read, count, embed, compare (spec § 3).

Each distinct text is looked at once, each distinct run of words embedded once. What scoring needs of a text are counts
and cosines; the text itself is kept for explanations. What our own senses could not do leaves an answer unscored. Who
is one operator is never taken from a miner's answer or an organic caller: they could silence others with it.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.core.numbers import is_number
from weighbeam.core.quantise import MILLION
from weighbeam.core.text import UNICODE_VERSION, has_lone_surrogate
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Reply, Task
from weighbeam.mechanisms.inference.params import MAX_ANSWER_BYTES, InferenceParams
from weighbeam.mechanisms.inference.read_kinds import read_by_kind
from weighbeam.mechanisms.inference.reference.observe import find_reference, read_texts
from weighbeam.mechanisms.inference.task import ParsedPrompt, parse_body
from weighbeam.mechanisms.inference.text.cosines import TextVectors, embed_clean
from weighbeam.mechanisms.inference.text.counts import (
    ParsedText,
    count_borrowed,
    count_shared,
    count_signs,
    count_text,
    number_wordings,
)
from weighbeam.mechanisms.inference.text.words import label_polarity
from weighbeam.senses.ports.protocols import Embedder, Sense, Senses

CROWDED = 2
"""As many words and signs as an answer may have words, times this, are embedded whole."""


def observe_round(params: InferenceParams, asked: Asked, senses: Senses) -> Observation:
    """The observation of a round; a task that cannot be read is refused, answers never are."""
    question = parse_body(asked.task.body)
    prompt = ParsedText(question.prompt)
    max_words = question.max_words(params.max_answer_words)
    texts = _parse_texts(asked.answers, max_words)
    by_kind = params.reading == "kinds"
    asked_last = {prompt.last_line} if by_kind else set[str]()
    vectors = _embed(prompt, asked_last, [text for text in texts.values() if text.words], max_words, senses.embedder)
    unread = _find_unread(texts, prompt, vectors)
    numbers = {digest: number for number, digest in enumerate(texts)}
    reference = find_reference(params, asked.task)
    readings, faults = read_texts(reference, [text.raw for text in texts.values()], senses)
    readable = [ParsedText("") if digest in unread else text for digest, text in texts.items()]
    read = read_by_kind(question, prompt, readable) if by_kind else None
    facts: dict[str, Any] = {
        "format": 1,
        "task": {
            **_task_facts(asked.task, question, prompt),
            **({} if read is None else read.task),
            **({} if reference is None else {"reference": asked.task.body["reference"]}),
        },
        "seed": asked.seed,
        "group": _group_facts(asked.group),
        "senses": name_senses(params, senses),
        "faults": [*vectors.faults, *faults],
        "texts": [
            {**text, **({} if reference is None else {"read": reading})}
            for text, reading in zip(_text_facts(texts, prompt), readings, strict=True)
        ],
        "miners": [_miner(answer, numbers, unread, asked.entities) for answer in asked.answers],
    }
    arrays = _measure(list(texts.values()), prompt, vectors)
    if read is not None:
        borrowed = count_borrowed(list(texts.values()), prompt, _find_arrivals(asked.answers, texts))
        for row, traits, (own, taken, apart) in zip(facts["texts"], read.traits, borrowed, strict=True):
            row["traits"] = traits.as_json()
            row["borrowed"] = {"triples": own, "earlier": taken, "apart": apart}
        arrays["last_line_cosines"] = _compare_last(list(texts.values()), prompt, vectors)
        agreement = read.agree(arrays, vectors, senses.entailment if params.contradiction else None)
        arrays["agreement"] = agreement.matrix
        facts["faults"] += agreement.faults
        if agreement.denied is not None:
            for row, denied in zip(facts["texts"], agreement.denied.tolist(), strict=True):
                row["denied"] = round(denied, 6)
    kept = {digest: text.raw for digest, text in texts.items()} | {digest_text(question.prompt): question.prompt}
    return Observation(facts, arrays, kept)


def name_senses(params: InferenceParams, senses: Senses) -> dict[str, Any]:
    used: dict[str, Sense] = {"embedder": senses.embedder}
    if params.reference_entailment or (params.reading == "kinds" and params.contradiction):
        used["entailment"] = senses.entailment
    named = {name: {"id": sense.id, "digest": sense.digest} for name, sense in used.items()}
    return {**named, "unicode": UNICODE_VERSION}


def parse_answer(answer: Answer) -> tuple[Reply, str | None]:
    """Status of an answer, and its text if it is readable."""
    if answer.status != "ok":
        return answer.status, None
    if not is_number(answer.seconds):
        return "validator_error", None
    text = answer.payload.get("text") if isinstance(answer.payload, dict) else None
    if not isinstance(text, str) or has_lone_surrogate(text):
        return "malformed", None
    if len(text) > MAX_ANSWER_BYTES or len(text.encode()) > MAX_ANSWER_BYTES:
        return "too_large", None
    return "ok", text


def _parse_texts(answers: Sequence[Answer], max_words: int) -> dict[str, ParsedText]:
    """Every readable text once, by digest; none with more words than the question allows."""
    read = (parse_answer(answer)[1] for answer in answers)
    found = {digest_text(text): ParsedText(text) for text in read if text is not None}
    return {digest: found[digest] for digest in sorted(found) if len(found[digest].words) <= max_words}


def _find_arrivals(answers: Sequence[Answer], texts: Mapping[str, ParsedText]) -> list[float]:
    """After how many seconds each text was there for the first time."""
    found = dict.fromkeys(texts, math.inf)
    for answer in answers:
        text = parse_answer(answer)[1]
        digest = None if text is None else digest_text(text)
        if digest in found and math.isfinite(answer.seconds):
            found[digest] = min(found[digest], max(0.0, round(float(answer.seconds), 6)))
    return list(found.values())


def _embed(
    prompt: ParsedText, besides: set[str], worded: Sequence[ParsedText], max_words: int, embedder: Embedder
) -> TextVectors:
    """Vectors of the prompt, of further parts, of the texts and their sentences.

    A sign costs a model as much as a word, and only words are limited. So of a text of more than twice as many words
    and signs as it may have words, only the words are embedded. A part that another text has too is read as it is
    there: nobody's vectors depend on what others send.
    """
    plain, crowded = {prompt.clean} | besides, set[str]()
    for text in worded:
        parts = plain if len(text.words) + count_signs(text.clean) <= CROWDED * max_words else crowded
        parts.update((text.clean, *text.sentences))
    return embed_clean(plain, embedder, crowded - plain)


def _find_unread(texts: Mapping[str, ParsedText], prompt: ParsedText, vectors: TextVectors) -> set[str]:
    """Digests of the texts that cannot be judged, through a fault of our embedder."""
    if prompt.clean in vectors.missing:
        return set(texts)
    missing = vectors.missing
    return {
        digest
        for digest, text in texts.items()
        if missing and text.words and any(part in missing for part in (text.clean, *text.sentences))
    }


def _measure(texts: Sequence[ParsedText], prompt: ParsedText, vectors: TextVectors) -> dict[str, NDArray[Any]]:
    """Cosines in millionths, and how many word triples each two texts share."""
    worded = [number for number, text in enumerate(texts) if text.words]
    clean = [texts[number].clean for number in worded]
    similarity = np.zeros((len(texts), len(texts)), dtype=np.int32)
    similarity[np.ix_(worded, worded)] = vectors.compare(clean, clean)
    np.fill_diagonal(similarity, MILLION)
    to_prompt = np.zeros(len(texts), dtype=np.int32)
    to_prompt[worded] = vectors.compare(clean, [prompt.clean])[:, 0]
    sentences = [sentence for text in texts for sentence in text.sentences]
    neighbours = [pair for text in texts for pair in pairwise(text.sentences)]
    return {
        "similarity": similarity,
        "prompt_cosines": to_prompt,
        "sentence_cosines": vectors.compare(sentences, [prompt.clean])[:, 0],
        "neighbour_cosines": vectors.compare_pairs([a for a, _ in neighbours], [b for _, b in neighbours]),
        "shared": np.array(list(count_shared(texts)), dtype=np.int32).reshape(-1, 3),
    }


def _compare_last(texts: Sequence[ParsedText], prompt: ParsedText, vectors: TextVectors) -> NDArray[np.int32]:
    """Cosines of the texts with the last line of the prompt."""
    found = np.zeros(len(texts), dtype=np.int32)
    worded = [number for number, text in enumerate(texts) if text.words]
    found[worded] = vectors.compare([texts[number].clean for number in worded], [prompt.last_line])[:, 0]
    return found


def _text_facts(texts: Mapping[str, ParsedText], prompt: ParsedText) -> list[dict[str, Any]]:
    wordings = number_wordings(list(texts.values()))
    return [
        {
            "digest": digest,
            "counts": count_text(text, prompt).as_json(),
            "polarity": label_polarity(text.words),
            "wording": wording,
            "triples": len(text.triples),
        }
        for (digest, text), wording in zip(texts.items(), wordings, strict=True)
    ]


def _miner(answer: Answer, numbers: Mapping[str, int], unread: set[str], entities: Mapping[str, str]) -> dict[str, Any]:
    status, text = parse_answer(answer)
    digest = None if text is None else digest_text(text)
    if digest is not None and digest not in numbers:
        status, digest = "too_large", None
    claim = answer.payload.get("confidence") if isinstance(answer.payload, dict) else None
    timed = math.isfinite(answer.seconds)
    return {
        "hotkey": answer.hotkey,
        "uid": answer.uid,
        "status": "validator_error" if digest in unread else status,
        "text": None if digest is None else numbers[digest],
        "seconds": round(max(0.0, float(answer.seconds)), 6) if timed else None,
        "confidence": round(min(1.0, max(0.0, float(claim))), 6) if is_number(claim) else None,
        "entity": entities.get(answer.hotkey),
    }


def _task_facts(task: Task, question: ParsedPrompt, prompt: ParsedText) -> dict[str, Any]:
    return {
        "id": task.id,
        "kind": task.kind,
        "ranked": task.ranked,
        "wanted": list(task.wanted),
        "prompt": digest_text(question.prompt),
        "words": len(prompt.words),
        "prose": question.prose,
        **({"exact": True} if question.posed.get("temperature") == 0 else {}),
    }


def _group_facts(group: Group) -> dict[str, Any]:
    return {"members": list(group.members), "extra": list(group.extra)}
