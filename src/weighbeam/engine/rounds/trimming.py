"""Trimming of failed answers: the journal keeps digest, proof and the beginning; scores need no text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weighbeam.mechanism.records import TRIMMED, Answer, Asked, Observation, Scored
from weighbeam.network.replies import drop_body
from weighbeam.store.blobs import digest_bytes

KEPT_BYTES = 4096
"""Of a failed answer, and of the texts that an observation keeps of it."""


def trim_failed(asked: Asked, observation: Observation, scored: Scored) -> tuple[Asked, Observation]:
    """A round with little of its failed answers left. Facts and arrays stay as they are, and so does every score."""
    failed = {score.hotkey for score in scored.scores if score.status == "failed"}
    if not any(answer.hotkey in failed and answer.payload is not None for answer in asked.answers):
        return asked, observation
    texts = _trim_texts(asked, failed, observation.texts)
    answers = tuple(trim_answer(answer) if answer.hotkey in failed else answer for answer in asked.answers)
    return replace(asked, answers=answers), replace(observation, texts=texts)


def trim_answer(answer: Answer) -> Answer:
    """The answer, its payload replaced by `{"trimmed": {sha256, bytes, text}}` if it is long; `reason` says so too.

    >>> trim_answer(Answer("a", {"chunks": ["short"]})).reason is None
    True
    >>> trimmed = trim_answer(Answer("a", {"chunks": ["long"] * 5000}))
    >>> trimmed.reason, trimmed.payload["trimmed"]["bytes"], len(trimmed.payload["trimmed"]["text"])
    ('trimmed', 35012, 4096)
    """
    written = encode_payload(answer.payload)
    raw = "" if answer.proof is None else answer.proof.get("raw", "")
    if max(len(written), len(raw)) <= KEPT_BYTES:
        return answer
    kept = {"sha256": digest_bytes(written), "bytes": len(written), "text": written[:KEPT_BYTES].decode("ascii")}
    proof = None if answer.proof is None else drop_body(answer.proof)
    return replace(answer, payload={TRIMMED: kept}, reason=TRIMMED, proof=proof)


def encode_payload(payload: Any) -> bytes:
    """An answer's bytes in the journal: JSON in ASCII with sorted keys and no blanks."""
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _trim_texts(asked: Asked, failed: set[str], texts: Mapping[str, str]) -> Mapping[str, str]:
    """The texts without those that only failed answers hold, beyond the first few of each answer."""
    judged = [answer.payload for answer in asked.answers if answer.hotkey not in failed]
    dropped: set[str] = set()
    kept = set(_list_texts([asked.task.body, *judged]))
    for answer in asked.answers:
        if answer.hotkey in failed:
            first, rest = _split_texts(list(_list_texts([answer.payload])))
            kept.update(first)
            dropped.update(rest)
    return {digest: text for digest, text in texts.items() if text in kept or text not in dropped}


def _split_texts(texts: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The first texts of `KEPT_BYTES` together, and the others."""
    size = 0
    for number, text in enumerate(texts):
        size += len(text.encode("utf-8", "surrogatepass"))
        if size > KEPT_BYTES:
            return texts[:number], texts[number:]
    return texts, ()


def _list_texts(values: Sequence[Any]) -> Iterator[str]:
    """Every text in these values, in the order they hold them; a deep value costs no recursion."""
    left = list(reversed(values))
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            left.extend(reversed(list(value.values())))
        elif isinstance(value, list | tuple):
            left.extend(reversed(value))
