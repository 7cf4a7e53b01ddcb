"""The only part of chunking that needs a model: check, cut into segments, sample, embed (spec §§ 3-6, 12).

Identical answers are looked at once. Failed answers are never embedded. Each distinct text is embedded once. What our
own senses could not do leaves an answer unscored.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weighbeam.core.canonical import digest_json, digest_text
from weighbeam.mechanism.embed import embed_texts
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Seed, Task
from weighbeam.mechanisms.chunking.check import ChunkingCheck, ReferenceDocument
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.places import RuledDocument, draw_phase, rule_cells, sample_places
from weighbeam.mechanisms.chunking.retrieval.observe import observe_retrieval
from weighbeam.mechanisms.chunking.segments import Segment, locate_sentences, sample_segments, segment_chunk
from weighbeam.mechanisms.chunking.task import ChunkingLimits, parse_limits
from weighbeam.mechanisms.chunking.words import UNICODE_VERSION
from weighbeam.senses.ports.protocols import Embedder, Senses, Sentences

UNREAD = ("no_chunks", "malformed", "too_large")


@dataclass(slots=True)
class NumberedTexts:
    """Every text of the round once, numbered in the order met."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


@dataclass(frozen=True, slots=True)
class ObservedChunking:
    """One distinct answer as observed."""

    chunks: tuple[str, ...]
    checked: ChunkingCheck
    segments: tuple[Segment, ...] = ()
    sampled: tuple[int, ...] = ()


def observe_round(params: ChunkingParams, asked: Asked, senses: Senses) -> Observation:
    """The observation of a round; unreadable tasks are refused, answers never are."""
    limits = parse_limits(asked.task.body, params)
    document = ReferenceDocument(asked.task.body.get("document"))
    splitter = senses.sentences(params.splitter)
    found, miners = _look_at_all(asked, document, limits, splitter, params)
    texts = NumberedTexts()
    answers = [_record(one, texts) for one in found]
    embedded = sorted({text for answer in answers for text in _sampled_texts(answer)})
    by_number = list(texts.numbers)
    vectors, missing, faults = embed_texts([by_number[text] for text in embedded], senses.embedder)
    digests = [digest_text(text) for text in by_number]
    retrieval = observe_retrieval(asked.task, document, answers, by_number, senses.embedder)
    facts = {
        "format": 1,
        "task": _task_facts(asked.task, document, limits),
        "seed": asked.seed,
        "group": _group_facts(asked.group),
        "senses": name_senses(senses.embedder, splitter),
        "texts": digests,
        "embedded": embedded,
        "missing": [embedded[i] for i in missing],
        "faults": sorted({*faults, *retrieval.faults}),
        "answers": answers,
        "miners": miners,
        **retrieval.facts,
    }
    kept = dict(zip(digests, by_number, strict=True)) | {digest_text(document.text): document.text}
    return Observation(facts, {"vectors": vectors, **retrieval.arrays}, {**kept, **retrieval.texts})


def _look_at_all(
    asked: Asked, document: ReferenceDocument, limits: ChunkingLimits, splitter: Sentences, params: ChunkingParams
) -> tuple[list[ObservedChunking], list[dict[str, Any]]]:
    """Each distinct answer looked at once, and which of them each miner gave."""
    numbers: dict[tuple[str, ...] | int, int] = {}
    found: list[ObservedChunking] = []
    miners: list[dict[str, Any]] = []
    for position, answer in enumerate(asked.answers):
        key = _key(position, answer)
        if key not in numbers:
            numbers[key] = len(found)
            checked = _check(answer, document, limits.chunk_size, params)
            found.append(ObservedChunking(() if checked.failure in UNREAD else tuple(_parse_chunks(answer)), checked))
        miners.append(_miner(answer, numbers[key]))
    valid = [one for one in found if one.checked.ok]
    if params.sampling == "places":
        segmented = iter(_segment_places(valid, document, splitter, params, asked.seed))
    else:
        segmented = iter(_segment_chunks(valid, splitter, params, asked.seed))
    return [next(segmented) if one.checked.ok else one for one in found], miners


def _segment_places(
    valid: Sequence[ObservedChunking],
    document: ReferenceDocument,
    splitter: Sentences,
    params: ChunkingParams,
    seed: Seed,
) -> list[ObservedChunking]:
    """Segments on the document's own cells, in the same places for all answers."""
    if not valid:
        return []
    starts = locate_sentences(document.text, splitter.split(document.text))
    phase = draw_phase(seed, params.segment_sentences)
    ruled = RuledDocument(document.text, rule_cells(starts, params.segment_sentences, phase))
    cut = [ruled.cut(one.checked.spans or ()) for one in valid]
    sampled = sample_places(cut, seed, params.num_embeddings)
    return [
        replace(one, segments=tuple(segments), sampled=tuple(taken))
        for one, (segments, _), taken in zip(valid, cut, sampled, strict=True)
    ]


def _segment_chunks(
    valid: Sequence[ObservedChunking], splitter: Sentences, params: ChunkingParams, seed: Seed
) -> list[ObservedChunking]:
    """Segments from each chunk's own start, sampled for each answer alone: the seed's way."""
    split: dict[str, list[str]] = {}
    for chunk in {chunk for one in valid for chunk in one.chunks}:
        split[chunk] = segment_chunk(splitter.split(chunk), params.segment_sentences)
    segmented = []
    for one in valid:
        segments = tuple(Segment(i, text) for i, chunk in enumerate(one.chunks) for text in split[chunk])
        sampled = sample_segments(segments, seed, params.num_embeddings)
        segmented.append(replace(one, segments=segments, sampled=tuple(sampled)))
    return segmented


def _check(answer: Answer, document: ReferenceDocument, chunk_size: int, params: ChunkingParams) -> ChunkingCheck:
    """The verdict on an answer, whether it reached us or not."""
    if answer.status == "malformed" or answer.status == "too_large":
        return ChunkingCheck(answer.status)
    if answer.status != "ok":
        return ChunkingCheck("no_chunks")
    return document.check(_parse_chunks(answer), chunk_size, params)


def _parse_chunks(answer: Answer) -> Any:
    if answer.payload is None:
        return None
    return answer.payload.get("chunks") if isinstance(answer.payload, dict) else "not an object"


def _key(position: int, answer: Answer) -> tuple[str, ...] | int:
    """Equal lists of equal strings share a key; any other answer stands alone."""
    chunks = _parse_chunks(answer)
    if answer.status == "ok" and isinstance(chunks, list) and all(isinstance(c, str) for c in chunks):
        return tuple(chunks)
    return position


def _record(looked: ObservedChunking, texts: NumberedTexts) -> dict[str, Any]:
    """One distinct answer as facts: texts by number, segments as [chunk, text]."""
    chunks = [texts.number(chunk) for chunk in looked.chunks]
    return {
        "digest": digest_json(looked.chunks),
        "check": looked.checked.as_json(),
        "chunks": chunks,
        "lengths": [len(chunk) for chunk in looked.chunks],
        "segments": [[segment.chunk, texts.number(segment.text)] for segment in looked.segments],
        "sampled": list(looked.sampled),
    }


def _sampled_texts(answer: dict[str, Any]) -> list[int]:
    return [answer["segments"][i][1] for i in answer["sampled"]]


def _miner(answer: Answer, index: int) -> dict[str, Any]:
    measured = math.isfinite(answer.seconds)
    return {
        "hotkey": answer.hotkey,
        "uid": answer.uid,
        "answer": index,
        "seconds": round(max(0.0, float(answer.seconds)), 6) if measured else 0.0,
        "status": answer.status if measured else "validator_error",
    }


def _task_facts(task: Task, document: ReferenceDocument, limits: ChunkingLimits) -> dict[str, Any]:
    return {
        "id": task.id,
        "kind": task.kind,
        "ranked": task.ranked,
        "wanted": list(task.wanted),
        "document": digest_text(document.text),
        "characters": len(document.text),
        "words": len(document.words),
        "chunk_size": limits.chunk_size,
        "chunk_qty": limits.chunk_qty,
        "time_soft_max": limits.time_soft_max,
    }


def name_senses(embedder: Embedder, splitter: Sentences) -> dict[str, Any]:
    return {
        "embedder": {"id": embedder.id, "digest": embedder.digest},
        "splitter": {"id": splitter.id, "digest": splitter.digest},
        "unicode": UNICODE_VERSION,
    }


def _group_facts(group: Group) -> dict[str, Any]:
    return {
        "index": group.index,
        "count": group.count,
        "base": group.base,
        "members": list(group.members),
        "extra": list(group.extra),
    }
