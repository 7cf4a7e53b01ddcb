"""The stages of spec § 15 that score, average, weigh and conclude: plain JSON in, plain JSON out."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanisms.contract import Seed, Stage
from weighbeam.mechanisms.evidence.forms import read_forms
from weighbeam.mechanisms.evidence.nli import read_inference
from weighbeam.mechanisms.evidence.rank import Neuron
from weighbeam.mechanisms.evidence.read_input import Input, read_list, read_params, read_text
from weighbeam.mechanisms.evidence.response import score_response
from weighbeam.mechanisms.evidence.rows import MOST, Row, read_rows, read_within
from weighbeam.mechanisms.evidence.stand import Memory, remember_scores
from weighbeam.mechanisms.evidence.verdict import Quote, reach_verdict
from weighbeam.mechanisms.evidence.weigh import weigh_miners


def response_stage(given: Input) -> dict[str, Any]:
    params = read_params(given)
    return score_response(given.get("status"), given.get("seconds"), read_list(given, "snippets"), params)


def stand_stage(given: Input) -> dict[str, Any]:
    params = read_params(given)
    standing = given.get("standing")
    require(standing is None or isinstance(standing, dict), "bad_input", "the standing is no object")
    memory = Memory() if standing is None else _read_memory(standing)
    scores = read_list(given, "scores")
    require(all(score is None or is_number(score) for score in scores), "bad_score")
    memories = remember_scores(memory, [None if score is None else float(score) for score in scores], params)
    last = memories[-1] if memories else memory
    return {
        "averages": [memory.average for memory in memories],
        "average": last.average,
        "responses": last.responses,
    }


def weigh_stage(given: Input) -> dict[str, Any]:
    params = read_params(given)
    neurons = [_read_neuron(row) for row in read_rows(given, "neurons")]
    uids = {neuron.uid for neuron in neurons}
    hotkeys = {neuron.hotkey for neuron in neurons}
    require(len(uids) == len(hotkeys) == len(neurons), "duplicate_neuron")
    burn_uid = given.get("burn_uid")
    require(burn_uid is None or (is_integer(burn_uid) and burn_uid in uids), "unknown_burn_uid")
    standings = read_rows(given, "standings")
    memories = {read_text(row, "hotkey"): _read_memory(row) for row in standings}
    require(len(memories) == len(standings), "duplicate_hotkey")
    return weigh_miners(memories, neurons, burn_uid, _read_left_out(given), _read_seed(given), params)


def verdict_stage(given: Input) -> dict[str, Any]:
    params = read_params(given)
    return reach_verdict([_read_quote(row) for row in read_rows(given, "snippets")], params)


def _read_memory(row: Row) -> Memory:
    """An average and its count; only a miner that never answered may be without an average."""
    average, responses = row.get("average"), row.get("responses")
    if not is_integer(responses, 0):
        raise WeighbeamError("bad_input", "responses is no count")
    if average is None and responses == 0:
        return Memory()
    if not is_number(average):
        raise WeighbeamError("bad_average")
    return Memory(float(average), responses)


def _read_neuron(row: Row) -> Neuron:
    uid, hotkey, permit = row.get("uid"), read_text(row, "hotkey"), row.get("permit")
    if not is_integer(uid, 0) or not isinstance(permit, bool):
        raise WeighbeamError("bad_input", "a neuron has no uid, or no word on its permit")
    return Neuron(uid, hotkey, permit)


def _read_quote(row: Row) -> Quote:
    inference = read_inference(row.get("nli"))
    if inference is None:
        raise WeighbeamError("bad_nli")
    return Quote(
        page=read_text(row, "page"),
        forms=tuple(read_forms(read_text(row, "excerpt"))),
        domain=read_text(row, "domain"),
        multiplier=read_within(row, "multiplier", 0, MOST),
        inference=inference,
    )


def _read_left_out(given: Input) -> Sequence[str]:
    """The banned, and ourselves."""
    own, banned = given.get("self"), read_list(given, "banned")
    require(own is None or isinstance(own, str), "bad_input", "self is no hotkey")
    require(all(isinstance(hotkey, str) for hotkey in banned), "bad_input", "banned holds something that is no hotkey")
    return [*banned, *([] if own is None else [own])]


def _read_seed(given: Input) -> Seed:
    seed = given.get("seed")
    if isinstance(seed, str) or is_integer(seed):
        return seed
    raise WeighbeamError("bad_seed")


STAGES: Mapping[str, Stage] = {
    "evidence.response": response_stage,
    "evidence.stand": stand_stage,
    "evidence.weigh": weigh_stage,
    "evidence.verdict": verdict_stage,
}
