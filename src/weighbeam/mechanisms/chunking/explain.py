"""A score as a tree whose arithmetic a person can follow, with the segment pairs that cost most (spec § 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.numbers import format_short
from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.records import Node, Observation, Score, Scored
from weighbeam.mechanisms.chunking.failure import FailureDescription, describe_failure
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.explain import explain_mix, explain_retrieval
from weighbeam.mechanisms.chunking.reward import mix_retrieval
from weighbeam.mechanisms.chunking.score import find_rows, sampled_rows

BLOCK = 512


@dataclass(frozen=True, slots=True)
class SegmentPair:
    """Two sampled segments by position, and their similarity."""

    first: int
    second: int
    similarity: float


def find_telling_pairs(
    vectors: NDArray[np.integer], chunk_of: NDArray[np.integer], limit: int = 3
) -> tuple[list[SegmentPair], list[SegmentPair]]:
    """The `limit` least similar pairs within chunks and the `limit` most similar between chunks.

    Products of integers below 2⁵³ are exact in float64, so the order depends on no machine.
    """
    floats = vectors.astype(np.float64)
    within: list[tuple[float, int, int]] = []
    between: list[tuple[float, int, int]] = []
    for start in range(0, len(floats), BLOCK):
        products = floats[start : start + BLOCK] @ floats.T
        rows = np.arange(start, start + len(products))
        later = rows[:, None] < np.arange(len(floats))
        same = chunk_of[rows][:, None] == chunk_of[None, :]
        within = _keep(within, products, later & same, start, limit)
        between = _keep(between, -products, later & ~same, start, limit)
    scale = float(MILLION) ** 2
    return (
        [SegmentPair(i, j, value / scale) for value, i, j in within],
        [SegmentPair(i, j, -value / scale) for value, i, j in between],
    )


def _keep(
    kept: list[tuple[float, int, int]],
    products: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    start: int,
    limit: int,
) -> list[tuple[float, int, int]]:
    """The smallest `limit` products, those kept so far included; equals by position."""
    rows, columns = np.nonzero(wanted)
    values = products[rows, columns]
    if len(values) > limit:
        largest_kept = np.partition(values, limit - 1)[limit - 1]
        near = np.flatnonzero(values <= largest_kept)
        rows, columns, values = rows[near], columns[near], values[near]
    found = zip(values.tolist(), (rows + start).tolist(), columns.tolist(), strict=True)
    return sorted([*kept, *found])[:limit]


SHOWN_CHUNKS = 40


@dataclass(frozen=True, slots=True)
class StandingChange:
    """Effect of a round on a miner's standing, if one is kept."""

    before: float | None
    after: float | None
    weight: float | None = None


def explain_score(
    params: ChunkingParams,
    observation: Observation,
    scored: Scored,
    hotkey: str,
    change: StandingChange | None = None,
) -> Node:
    """Why `hotkey` got its score."""
    score = next(score for score in scored.scores if score.hotkey == hotkey)
    miner = next(miner for miner in observation.facts["miners"] if miner["hotkey"] == hotkey)
    answer = observation.facts["answers"][miner["answer"]]
    place = _explain_place(scored, hotkey, change)
    if score.status == "unscored":
        told = tuple(Node(fault) for fault in observation.facts["faults"])
        ours = Node("the validator could not judge this answer; nothing is charged to the miner", told)
        return Node(f"{hotkey}: unscored", (ours, *place))
    if score.parts is None:
        trouble = describe_answer_failure(observation, answer)
        return Node(f"{hotkey}: failed, reward 0", (explain_trouble(trouble), *place))
    children = (
        _explain_reward(score),
        *explain_mix(score.parts),
        _explain_similarity(score.parts),
        _explain_factor(score.parts, miner, answer, observation.facts["task"], params),
        _explain_chunks(score.parts, answer),
        *_explain_pairs(observation, answer),
        *explain_retrieval(params, observation, answer),
        *place,
    )
    return Node(f"{hotkey}: valid, reward {format_short(score.value, '.12g')}", children)


def describe_answer_failure(observation: Observation, answer: Mapping[str, Any]) -> FailureDescription:
    """The failure of a recorded answer, with texts as far as they are kept."""
    kept = [_text(observation, number) for number in answer["chunks"]]
    chunks = [text for text in kept if text is not None]
    document = observation.texts.get(observation.facts["task"]["document"])
    return describe_failure(answer["check"], chunks if len(chunks) == len(kept) else None, document)


def explain_trouble(trouble: FailureDescription) -> Node:
    """A failure as a tree; chunks and words count from 1, characters from 0."""
    lines = []
    if trouble.chunk is not None:
        lines.append(
            Node(f"chunk {trouble.chunk + 1}" + ("" if trouble.word is None else f", word {trouble.word + 1}"))
        )
    elif trouble.word is not None:
        lines.append(Node(f"word {trouble.word + 1} of the document"))
    if trouble.where is not None:
        where = trouble.where if trouble.chunk is None else f"chunk {trouble.chunk + 1}"
        lines.append(Node(f"at character {trouble.at} of {where}"))
        lines.append(Node(f"there: …{trouble.before}⟦{trouble.text or ''}⟧{trouble.after}…"))
    if trouble.document_has is not None:
        lines.append(Node(f"the document has, at character {trouble.document_at}: {trouble.document_has}…"))
    return Node(f"{trouble.code}: {trouble.meaning}", tuple(lines))


def _explain_reward(score: Score) -> Node:
    parts = score.parts or {}
    name = "mix" if "retrieval" in parts else "similarity"
    worth = f"e^{name}" if parts["shape"] == "exp" else name
    sums = f"{mix_retrieval(parts):.9g} × {parts['factor']:.9g}"
    if parts["shape"] == "exp":
        sums = f"e^{sums}"
    return Node(f"reward = {worth} × factor = {sums} = {score.value:.12g}")


def _explain_similarity(parts: Mapping[str, Any]) -> Node:
    unpaired, segments = parts["unpaired"], sum(chunk["segments"] for chunk in parts["chunks"])
    share = f"{unpaired} of {segments} segments are alone in their chunk and so in no pair within"
    children = (
        Node(f"within chunks: mean of {parts['intra_pairs']} pairs = {parts['intra']:.9g}"),
        Node(f"between chunks: mean of {parts['inter_pairs']} pairs = {parts['inter']:.9g}"),
        Node(share),
    )
    sums = f"{parts['intra']:.9g} − {parts['inter']:.9g} = {parts['similarity']:.9g}"
    return Node(f"similarity = within − between = {sums}", children)


def _explain_factor(
    parts: Mapping[str, Any],
    miner: Mapping[str, Any],
    answer: Mapping[str, Any],
    task: Mapping[str, Any],
    params: ChunkingParams,
) -> Node:
    size, quantity, time = parts["size_penalty"], parts["qty_penalty"], parts["time_penalty"]
    turned = parts["shape"] == "signed" and mix_retrieval(parts) < 0
    power = f"{params.base:.6g}^{parts['exponent']:.6g}"
    over = sum(max(0, length - task["chunk_size"]) for length in answer["lengths"])
    excess = max(0, len(answer["lengths"]) - task["chunk_qty"])
    late = max(0.0, miner["seconds"] - task["time_soft_max"])
    children = [
        Node(f"size {size:.6g} = {params.size_factor:g} × {over} characters over / {task['chunk_size']}"),
        Node(f"quantity {quantity:.6g} = {params.qty_factor:g} × {excess} chunks over / {task['chunk_qty']}"),
        Node(f"time {time:.6g} = {miner['seconds']:.6g} s, {late:.6g} over {task['time_soft_max']:g}"),
    ]
    if size + quantity + time > params.max_exponent:
        children.append(Node(f"their sum is capped at {params.max_exponent:g}"))
    shown = f"1 / {power}" if turned else power
    reason = (
        f" (turned over, since {'the mix' if 'retrieval' in parts else 'similarity'} is negative)" if turned else ""
    )
    return Node(f"factor = {shown} = {parts['factor']:.9g}{reason}", tuple(children))


def _explain_chunks(parts: Mapping[str, Any], answer: Mapping[str, Any]) -> Node:
    rows = []
    spans, exact = answer["check"]["spans"], answer["check"]["exact"]
    for index, chunk in enumerate(parts["chunks"][:SHOWN_CHUNKS]):
        span = "no words" if spans[index] is None else f"characters {spans[index][0]}–{spans[index][1]}"
        if spans[index] is not None and not exact[index]:
            span += " (white space differs)"
        own = "" if chunk["intra"] is None else f", own similarity {chunk['intra']:.6g}"
        penalty = f", size penalty {chunk['size_penalty']:.6g}" if chunk["size_penalty"] else ""
        length, segments = answer["lengths"][index], chunk["segments"]
        count = f"{segments} segment" + ("" if segments == 1 else "s")
        rows.append(Node(f"chunk {index + 1}: {span}, length {length}, {count}{own}{penalty}"))
    hidden = len(parts["chunks"]) - len(rows)
    if hidden:
        rows.append(Node(f"and {hidden} more"))
    return Node("chunks", tuple(rows))


def _explain_pairs(observation: Observation, answer: Mapping[str, Any]) -> tuple[Node, ...]:
    rows, chunk_of = sampled_rows([answer], find_rows(observation.facts))
    within, between = find_telling_pairs(observation.arrays["vectors"][rows], chunk_of)
    sampled = [answer["segments"][i] for i in answer["sampled"]]

    def show(title: str, pairs: Sequence[SegmentPair]) -> list[Node]:
        nodes = [Node(f"{pair.similarity:.6g}", _pair_lines(observation, sampled, pair)) for pair in pairs]
        return [Node(title, tuple(nodes))] if nodes else []

    return (
        *show("least alike within a chunk: kept together, these lower the score most", within),
        *show("most alike in different chunks: kept apart, these lower it most", between),
    )


def _pair_lines(observation: Observation, sampled: Sequence[Sequence[int]], pair: SegmentPair) -> tuple[Node, ...]:
    lines = []
    for position in (pair.first, pair.second):
        chunk, number = sampled[position]
        lines.append(Node(f"chunk {chunk + 1}: {_text(observation, number) or '(text no longer kept)'}"))
    return tuple(lines)


def _explain_place(scored: Scored, hotkey: str, change: StandingChange | None) -> tuple[Node, ...]:
    place = scored.summary["places"].get(hotkey)
    if place is None:
        return ()
    sharing = sum(other == place for other in scored.summary["places"].values()) - 1
    tie = f", shared with {sharing} more" if sharing else ""
    lines = [Node(f"place {place + 1:g} of {scored.summary['judged']} judged{tie}")]
    if change is not None:
        base = scored.summary["base"]
        lines.append(Node(f"rank = base {base:g} + {place:g} places behind the first = {base + place:g}"))
        lines.append(Node(f"standing {_number(change.before)} → {_number(change.after)} (lower is better)"))
        if change.weight is not None:
            lines.append(Node(f"weight {change.weight:.6g}"))
    return (Node("place in the group", tuple(lines)),)


def _number(value: float | None) -> str:
    return "never ranked" if value is None else f"{value:.6g}"


def _text(observation: Observation, number: int) -> str | None:
    return observation.texts.get(observation.facts["texts"][number])
