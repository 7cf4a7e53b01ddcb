"""Meanings of a score's reasons, and advice for a chunking miner: the cost of each penalty and of each kind of
similarity.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weighbeam.mechanism.advice import advise_failures, average, choose_advice, list_valid, measure_gap, shown
from weighbeam.mechanism.records import Advice, ScorePair
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.reward import mix_retrieval, shape_reward

MEANINGS = {
    "no_chunks": "No chunk arrived: answer in time, where you announced it; if your code failed, its log says how.",
    "malformed": "The answer is not a list of strings: send `chunks` as plain JSON strings.",
    "too_large": "The answer is far larger than the document: send its words once, without overlap or added text.",
    "new_words": "A chunk's words do not follow each other in the document: cut between words and change none.",
    "out_of_order": "A chunk begins before the one in front of it: keep the order of the document.",
    "missing_words": "Words of the document are in no chunk: let each chunk begin where the one before it ends.",
    "not_tiling": "The chunks are not the document word by word: send each word once, in order.",
    "validator_fault": "The validator could not judge the answer: nothing is charged, and there is nothing to do.",
}
FOREIGN = "added words in a chunking, or the document many times over"
SUSPICIOUS = {"new_words": FOREIGN, "too_large": FOREIGN}


PENALTIES = ("size_penalty", "qty_penalty", "time_penalty")


def advise_chunker(params: ChunkingParams, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
    """From the parts of its rewards."""
    found = advise_failures(pairs, MEANINGS)
    rows = [own.parts for own, _ in list_valid(pairs) if own.parts is not None]
    says: dict[str, Callable[[Sequence[Mapping[str, Any]], ChunkingParams], tuple[str, str]]] = {
        "size_penalty": _describe_size,
        "qty_penalty": _describe_quantity,
        "time_penalty": _describe_time,
    }
    for name, say in says.items():
        gain = sum(_gain_without(row, name, params) for row in rows) / max(1, len(pairs))
        hit = [row for row in rows if row[name] > 0]
        if hit:
            title, text = say(hit, params)
            found.append(
                Advice(
                    title,
                    f"{text} (in {len(hit)} of {len(pairs)} rounds): that cost {shown(gain)} per round",
                    gain,
                )
            )
    found += _advise_similarity(pairs, params)
    return choose_advice(found, measure_gap(pairs))


def _gain_without(parts: Mapping[str, Any], name: str, params: ChunkingParams) -> float:
    left = sum(parts[one] for one in PENALTIES if one != name)
    value = mix_retrieval(parts)
    after = shape_reward(value, min(left, params.max_exponent), params)[1]
    return after - shape_reward(value, parts["exponent"], params)[1]


def _describe_size(hit: Sequence[Mapping[str, Any]], params: ChunkingParams) -> tuple[str, str]:
    over = [chunk["size_penalty"] for row in hit for chunk in row["chunks"] if chunk["size_penalty"] > 0]
    excess = average(over) / params.size_factor if params.size_factor else 0.0
    text = (
        f"{len(over)} of your chunks were on average {excess:.0%} longer than chunk_size, so cut them into shorter ones"
    )
    return "Keep chunks within chunk_size", text


def _describe_quantity(hit: Sequence[Mapping[str, Any]], params: ChunkingParams) -> tuple[str, str]:
    excess = average([row["qty_penalty"] for row in hit]) / params.qty_factor if params.qty_factor else 0.0
    text = f"You sent on average {excess:.0%} more chunks than chunk_qty, so merge neighbours"
    return "Send no more chunks than chunk_qty", text


def _describe_time(hit: Sequence[Mapping[str, Any]], _: ChunkingParams) -> tuple[str, str]:
    late = average([row["time_penalty"] for row in hit])
    return "Answer sooner", f"Your answers came on average {late:.1f} s after the soft limit, so answer sooner"


def _advise_similarity(pairs: Sequence[ScorePair], params: ChunkingParams) -> list[Advice]:
    """Against the best of the same rounds, whatever its own penalties were."""
    both = [(own.parts, best.parts) for own, best in list_valid(pairs) if own.parts and best and best.parts]
    if not both:
        return []
    own, best = ([row[side] for row in both] for side in (0, 1))
    found = []
    for name, title, text, sign in (
        ("intra", "Make each chunk about one thing", "The parts of one of your chunks are alike by {0} on average, "
         "those of the best by {1}, so cut where the subject changes; closing that gap would bring {2} per round", 1.0),
        ("inter", "Make chunks differ from each other", "Your chunks are alike by {0} among each other, those of the "
         "best by {1}, so join neighbours that are about the same; closing that gap would bring {2} per round", -1.0),
    ):  # fmt: skip
        gain = sum(_gain_alike(a, sign * (b[name] - a[name]), params) for a, b in both) / len(pairs)
        means = [f"{average([row[name] for row in side]):.3f}" for side in (own, best)]
        found.append(Advice(title, text.format(*means, shown(gain)), gain))
    return found


def _gain_alike(parts: Mapping[str, Any], more: float, params: ChunkingParams) -> float:
    alike = {**parts, "similarity": parts["similarity"] + more}
    after = shape_reward(mix_retrieval(alike), parts["exponent"], params)[1]
    return after - shape_reward(mix_retrieval(parts), parts["exponent"], params)[1]
