"""Scores of a recorded round. Pure: everything it reads is in the observation's facts and arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.records import Observation, Score, Scored
from weighbeam.mechanisms.inference.agreement.alerts import describe_copies
from weighbeam.mechanisms.inference.agreement.filter import ReceivedAnswers
from weighbeam.mechanisms.inference.judge import JudgedRound, RoundInput, format_judged, judge_round
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.marks import Truth
from weighbeam.mechanisms.inference.reference.truth import judge_reading
from weighbeam.mechanisms.inference.text.counts import TextCounts, fill_overlaps
from weighbeam.mechanisms.inference.text.kind_quality import KindQuality, judge_texts_by_kind
from weighbeam.mechanisms.inference.text.quality import Cosines, Quality, judge_quality
from weighbeam.mechanisms.inference.text.traits import TextTraits

NOT_SUMMED = ("scores", "parts", "emissions", "truth")


@dataclass(frozen=True, slots=True)
class RejudgedRound:
    """A recorded round judged again: what was given, the quality of each miner's text, and the judgement."""

    given: RoundInput
    qualities: Mapping[str, Quality | KindQuality]
    judged: JudgedRound

    def write(self) -> dict[str, Any]:
        return format_judged(self.given, self.judged)


def score_round(params: InferenceParams, observation: Observation) -> Scored:
    """One score per miner in the order asked; the summary is the stage's output, with what each one earned."""
    replayed = replay_round(params, observation)
    written = replayed.write()
    scores = tuple(_score(miner, replayed) for miner in observation.facts["miners"])
    summary = {name: value for name, value in written.items() if name not in NOT_SUMMED}
    copies = describe_copies(replayed.given.received, replayed.judged.filtered, params)
    paid = _list_counted(observation.facts, written["emissions"])
    known = written.get("truth", {}) if not written["void"] else {}
    truth = _list_counted(observation.facts, known)
    return Scored(
        scores, {**summary, "copies": copies, "emissions": paid, **({"truth": truth} if "truth" in written else {})}
    )


def replay_round(params: InferenceParams, observation: Observation) -> RejudgedRound:
    """Judge a recorded round."""
    facts, arrays = observation.facts, observation.arrays
    miners = sorted(facts["miners"], key=lambda miner: str(miner["hotkey"]))
    arrived = [miner for miner in miners if miner["status"] == "ok"]
    per_text = judge_texts(params, observation)
    rows = np.array([miner["text"] for miner in arrived], dtype=np.intp)
    truth = judge_truth(facts)
    received = ReceivedAnswers(
        hotkeys=tuple(miner["hotkey"] for miner in arrived),
        quality=np.array([per_text[row].quality for row in rows], dtype=np.float64),
        words=np.array([per_text[row].words for row in rows], dtype=np.int64),
        entities=tuple(miner["entity"] for miner in arrived),
        similarity=_spread(arrays["similarity"] / MILLION, rows),
        overlap=_spread(_unpack_overlaps(observation), rows),
        agreement=_spread(arrays["agreement"] / MILLION, rows) if "agreement" in arrays else None,
        kind=facts["task"].get("asks"),
        exact=params.equal_at_zero and facts["task"].get("exact", False),
        borrowed=find_borrowed(facts, rows) if params.borrowing else None,
    )
    given = RoundInput(
        received=received,
        seconds=tuple(miner["seconds"] for miner in arrived),
        confidence=tuple(miner["confidence"] for miner in arrived),
        polarity=tuple(facts["texts"][row]["polarity"] for row in rows),
        missed={miner["hotkey"]: miner["status"] for miner in miners if miner["status"] != "ok"},
        truth=None if truth is None else tuple(truth[row] for row in rows),
    )
    qualities = {miner["hotkey"]: per_text[miner["text"]] for miner in arrived}
    return RejudgedRound(given, qualities, judge_round(given, params))


def judge_texts(params: InferenceParams, observation: Observation) -> Sequence[Quality | KindQuality]:
    """The quality of each distinct text, as the round was read."""
    return _judge_kinds(params, observation) if "asks" in observation.facts["task"] else _judge(params, observation)


def _judge_kinds(params: InferenceParams, observation: Observation) -> list[KindQuality]:
    facts = observation.facts
    traits = [TextTraits.from_json(text["traits"]) for text in facts["texts"]]
    words = [text["counts"]["words"] for text in facts["texts"]]
    return judge_texts_by_kind(traits, words, facts["task"], observation.arrays, params.quality_threshold)


def _judge(params: InferenceParams, observation: Observation) -> list[Quality]:
    facts, arrays = observation.facts, observation.arrays
    prompt = (arrays["prompt_cosines"] / MILLION).tolist()
    own, next_ones = ((arrays[name] / MILLION).tolist() for name in ("sentence_cosines", "neighbour_cosines"))
    judged: list[Quality] = []
    at = neighbour = 0
    for text, closeness in zip(facts["texts"], prompt, strict=True):
        counts = TextCounts.from_json(text["counts"])
        pairs = max(0, counts.sentences - 1)
        cosines = Cosines(closeness, own[at : at + counts.sentences], next_ones[neighbour : neighbour + pairs])
        judged.append(judge_quality(counts, cosines, facts["task"]["prose"], params.quality_threshold))
        at, neighbour = at + counts.sentences, neighbour + pairs
    return judged


def _unpack_overlaps(observation: Observation) -> NDArray[np.float64]:
    texts = observation.facts["texts"]
    sizes, wordings = [text["triples"] for text in texts], [text["wording"] for text in texts]
    return fill_overlaps(sizes, wordings, observation.arrays["shared"])


def _spread(matrix: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """From distinct texts to the miners who gave them."""
    spread: NDArray[np.float64] = matrix[np.ix_(rows, rows)]
    return spread


def _score(miner: Mapping[str, Any], replayed: RejudgedRound) -> Score:
    hotkey, judged = miner["hotkey"], replayed.judged
    if miner["status"] == "validator_error":
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    if judged.void:
        return Score(hotkey, "unscored", None, None, ("void_round",))
    if miner["status"] != "ok":
        return Score(hotkey, "failed", 0.0, None, (miner["status"],))
    if hotkey not in judged.parts:
        return Score(hotkey, "failed", 0.0, None, replayed.qualities[hotkey].reasons)
    reasons = (judged.removed[hotkey],) if hotkey in judged.removed else ()
    return Score(hotkey, "valid", judged.scores[hotkey], judged.parts[hotkey], reasons)


def _list_counted(facts: Mapping[str, Any], found: Mapping[str, float | None]) -> dict[str, float]:
    """Scores that move standings: none of an unranked round, and none of miners outside the group."""
    extra = set(facts["group"]["extra"])
    if not facts["task"]["ranked"]:
        return {}
    return {hotkey: value for hotkey, value in found.items() if value is not None and hotkey not in extra}


def find_borrowed(facts: Mapping[str, Any], rows: Sequence[int] | NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The share of each answer that earlier ones say word for word, and the share from all but its versions; None
    where this is not measured."""
    counted = [facts["texts"][row].get("borrowed") for row in rows]
    if facts["task"].get("asks") != "open" or any(one is None for one in counted):
        return None
    return np.array([[one[of] / max(1, one["triples"]) for of in ("earlier", "apart")] for one in counted]).reshape(
        -1, 2
    )


def judge_truth(facts: Mapping[str, Any]) -> list[Truth] | None:
    """How right each distinct text is; None in a round without a reference."""
    recorded = facts["task"].get("reference")
    if recorded is None:
        return None
    reference = parse_reference(recorded)
    return [None if text["read"] is None else judge_reading(reference, text["read"]) for text in facts["texts"]]
