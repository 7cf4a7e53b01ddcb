"""The pure stages that judge URLs and texts (spec § 15), as vector files call them: plain JSON in, plain JSON out."""

import math
from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanisms.contract import Stage
from weighbeam.mechanisms.evidence.duplicates import Response, find_copies, read_quote
from weighbeam.mechanisms.evidence.match import match_excerpt
from weighbeam.mechanisms.evidence.page_tokens import tokenise
from weighbeam.mechanisms.evidence.read_input import (
    Input,
    read_given_lists,
    read_list,
    read_params,
    read_spans,
    read_text,
)
from weighbeam.mechanisms.evidence.snippet import judge_snippet
from weighbeam.mechanisms.evidence.url import judge_url


def url_stage(given: Input) -> dict[str, Any]:
    params, lists = read_params(given), read_given_lists(given)
    return judge_url(given.get("url"), read_list(given, "hops"), given.get("excerpt"), lists, params).as_json()


def match_stage(given: Input) -> dict[str, Any]:
    read_params(given)
    full = None if given.get("full") is None else tokenise(read_text(given, "full"))
    spans = read_spans(given, "user_spans")
    return match_excerpt(read_text(given, "excerpt"), tokenise(read_text(given, "page")), full, spans).as_json()


def snippet_stage(given: Input) -> dict[str, Any]:
    params, lists = read_params(given), read_given_lists(given)
    snippet = given.get("snippet")
    entry = snippet if isinstance(snippet, dict) else {}
    verdict = judge_url(entry.get("url"), read_list(given, "hops"), entry.get("excerpt"), lists, params)
    return judge_snippet(verdict, entry.get("excerpt"), given, params).as_json()


def duplicates_stage(given: Input) -> dict[str, Any]:
    params, seed = read_params(given), given.get("seed")
    rows = read_list(given, "responses")
    responses = [_read_response(row, params.max_snippets) for row in rows]
    require(len({response.hotkey for response in responses}) == len(responses), "duplicate_hotkey")
    if not isinstance(seed, str) and not is_integer(seed):
        raise WeighbeamError("bad_seed")
    return {"responses": [copied.as_json() for copied in find_copies(responses, seed, params.copy_share)]}


def _read_response(row: object, most: int) -> Response:
    require(isinstance(row, dict) and isinstance(row.get("hotkey"), str), "bad_input", "a response has no hotkey")
    assert isinstance(row, dict)
    seconds, value = row.get("seconds"), row.get("value")
    require(seconds is None or is_number(seconds), "bad_seconds")
    require(value is None or is_number(value), "bad_input", "a value is no number")
    entries = [entry if isinstance(entry, dict) else {} for entry in read_list(row, "snippets")[:most]]
    quotes = [read_quote(entry.get("url"), entry.get("excerpt")) for entry in entries]
    return Response(
        hotkey=row["hotkey"],
        seconds=math.inf if seconds is None else float(seconds),
        value=None if value is None else float(value),
        quotes=quotes,
        accepted=[quote for quote, entry in zip(quotes, entries, strict=True) if entry.get("accepted") is True],
    )


STAGES_TEXT: Mapping[str, Stage] = {
    "evidence.url": url_stage,
    "evidence.match": match_stage,
    "evidence.snippet": snippet_stage,
    "evidence.duplicates": duplicates_stage,
}
