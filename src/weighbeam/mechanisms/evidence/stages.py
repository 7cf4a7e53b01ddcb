"""The pure stages of spec § 15, as vector files call them: plain JSON in, plain JSON out."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanism.records import Seed, Stage
from weighbeam.mechanisms.evidence.excerpt.forms import parse_forms
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
from weighbeam.mechanisms.evidence.judge.duplicates import CopyResponse, find_copies, parse_quote
from weighbeam.mechanisms.evidence.judge.nli import parse_inference
from weighbeam.mechanisms.evidence.judge.response import score_response
from weighbeam.mechanisms.evidence.judge.snippet import judge_snippet
from weighbeam.mechanisms.evidence.judge.verdict import VerdictQuote, reach_verdict
from weighbeam.mechanisms.evidence.parse import (
    MAX_STAGE_NUMBER,
    Input,
    Row,
    parse_given_lists,
    parse_list,
    parse_params,
    parse_rows,
    parse_spans,
    parse_text,
    parse_within,
)
from weighbeam.mechanisms.evidence.stand import Memory, remember_scores
from weighbeam.mechanisms.evidence.url.verdict import judge_url
from weighbeam.mechanisms.evidence.weigh import RegisteredMiner, weigh_miners


def url_stage(given: Input) -> dict[str, Any]:
    params, lists = parse_params(given), parse_given_lists(given)
    return judge_url(given.get("url"), parse_list(given, "hops"), given.get("excerpt"), lists, params).as_json()


def match_stage(given: Input) -> dict[str, Any]:
    parse_params(given)
    full = None if given.get("full") is None else tokenise(parse_text(given, "full"))
    spans = parse_spans(given, "user_spans")
    return match_excerpt(parse_text(given, "excerpt"), tokenise(parse_text(given, "page")), full, spans).as_json()


def snippet_stage(given: Input) -> dict[str, Any]:
    params, lists = parse_params(given), parse_given_lists(given)
    snippet = given.get("snippet")
    entry = snippet if isinstance(snippet, dict) else {}
    verdict = judge_url(entry.get("url"), parse_list(given, "hops"), entry.get("excerpt"), lists, params)
    return judge_snippet(verdict, entry.get("excerpt"), given, params).as_json()


def duplicates_stage(given: Input) -> dict[str, Any]:
    params, seed = parse_params(given), given.get("seed")
    rows = parse_list(given, "responses")
    responses = [_parse_response(row, params.max_snippets) for row in rows]
    require(len({response.hotkey for response in responses}) == len(responses), "duplicate_hotkey")
    if not isinstance(seed, str) and not is_integer(seed):
        raise WeighbeamError("bad_seed")
    values = [None if row.get("value") is None else float(row["value"]) for row in rows]
    copies = find_copies(responses, seed, params)
    return {"responses": [copied.as_json(value) for copied, value in zip(copies, values, strict=True)]}


def _parse_response(row: object, limit: int) -> CopyResponse:
    require(isinstance(row, dict) and isinstance(row.get("hotkey"), str), "bad_input", "a response has no hotkey")
    assert isinstance(row, dict)
    seconds, value = row.get("seconds"), row.get("value")
    require(seconds is None or is_number(seconds), "bad_seconds")
    require(value is None or is_number(value), "bad_input", "a value is not a number")
    entries = [entry if isinstance(entry, dict) else {} for entry in parse_list(row, "snippets")[:limit]]
    return CopyResponse(
        hotkey=row["hotkey"],
        seconds=math.inf if seconds is None else float(seconds),
        quotes=[parse_quote(entry.get("url"), entry.get("excerpt")) for entry in entries],
        accepted=[entry.get("accepted") is True for entry in entries],
    )


STAGES_TEXT: Mapping[str, Stage] = {
    "evidence.url": url_stage,
    "evidence.match": match_stage,
    "evidence.snippet": snippet_stage,
    "evidence.duplicates": duplicates_stage,
}


def response_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    return score_response(given.get("status"), given.get("seconds"), parse_list(given, "snippets"), params)


def stand_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    standing = given.get("standing")
    require(standing is None or isinstance(standing, dict), "bad_input", "the standing is not an object")
    memory = Memory() if standing is None else _parse_memory(standing)
    scores = parse_list(given, "scores")
    require(all(score is None or is_number(score) for score in scores), "bad_score")
    memories = remember_scores(memory, [None if score is None else float(score) for score in scores], params)
    last = memories[-1] if memories else memory
    return {
        "averages": [memory.average for memory in memories],
        "average": last.average,
        "responses": last.responses,
    }


def weigh_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    neurons = [_parse_neuron(row) for row in parse_rows(given, "neurons")]
    uids = {neuron.uid for neuron in neurons}
    hotkeys = {neuron.hotkey for neuron in neurons}
    require(len(uids) == len(hotkeys) == len(neurons), "duplicate_neuron")
    burn_uid = given.get("burn_uid")
    require(burn_uid is None or (is_integer(burn_uid) and burn_uid in uids), "unknown_burn_uid")
    standings = parse_rows(given, "standings")
    memories = {parse_text(row, "hotkey"): _parse_memory(row) for row in standings}
    require(len(memories) == len(standings), "duplicate_hotkey")
    return weigh_miners(memories, neurons, burn_uid, _parse_left_out(given), _parse_seed(given), params)


def verdict_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    return reach_verdict([_parse_verdict_quote(row) for row in parse_rows(given, "snippets")], params)


def _parse_memory(row: Row) -> Memory:
    """An average and its count; only a miner that never answered may be without an average."""
    average, responses = row.get("average"), row.get("responses")
    if not is_integer(responses, 0):
        raise WeighbeamError("bad_input", "responses is not a count")
    if average is None and responses == 0:
        return Memory()
    if not is_number(average):
        raise WeighbeamError("bad_average")
    return Memory(float(average), responses)


def _parse_neuron(row: Row) -> RegisteredMiner:
    uid, hotkey, permit = row.get("uid"), parse_text(row, "hotkey"), row.get("permit")
    if not is_integer(uid, 0) or not isinstance(permit, bool):
        raise WeighbeamError("bad_input", "a neuron has no uid, or no permit flag")
    return RegisteredMiner(uid, hotkey, permit)


def _parse_verdict_quote(row: Row) -> VerdictQuote:
    inference = parse_inference(row.get("nli"))
    if inference is None:
        raise WeighbeamError("bad_nli")
    return VerdictQuote(
        page=parse_text(row, "page"),
        forms=tuple(parse_forms(parse_text(row, "excerpt"))),
        domain=parse_text(row, "domain"),
        multiplier=parse_within(row, "multiplier", 0, MAX_STAGE_NUMBER),
        inference=inference,
        relevance_factor=parse_within({"relevance_factor": 1.0, **row}, "relevance_factor", 0, 1),
    )


def _parse_left_out(given: Input) -> Sequence[str]:
    """The banned, and ourselves."""
    own, banned = given.get("self"), parse_list(given, "banned")
    require(own is None or isinstance(own, str), "bad_input", "self is not a hotkey")
    require(all(isinstance(hotkey, str) for hotkey in banned), "bad_input", "banned holds a value that is not a hotkey")
    return [*banned, *([] if own is None else [own])]


def _parse_seed(given: Input) -> Seed:
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
