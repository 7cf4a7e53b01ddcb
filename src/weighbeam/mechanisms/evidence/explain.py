"""A score as a tree: each snippet's way through the checks, the sum, the speed, and whom it copies."""

from collections.abc import Iterator, Mapping
from typing import Any

from weighbeam.mechanisms.contract import Node, Observation, Scored
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.question import report_round

MEANINGS = {
    "unreachable_miner": "the miner has no endpoint, refused, or did not answer in time",
    "invalid_response": "the answer is not the list of snippets that was asked for",
    "no_statements": "the list of snippets is empty",
    "malformed_url": "the URL cannot be parsed",
    "non_https": "the URL, or one it leads to, is not https",
    "blacklisted_domain": "the URL, or one it leads to, is on the blacklist",
    "forbidden_target": "the URL, or one it leads to, names no public host on port 443",
    "search_url": "the URL is a search, or carries the excerpt itself",
    "invalid_excerpt": "the excerpt is too short, too long, or not text",
    "too_similar": "the excerpt says little but the statement itself",
    "recent_domain": "the domain was registered a short time ago",
    "page_gone": "there is no such page",
    "page_unavailable": "the page could not be read",
    "search_page": "the page is a list of search results",
    "fake_snippet": "there is evidence that the excerpt was forged",
    "snippet_not_found": "the excerpt is not on the page",
    "unrelated_page": "the passage is not about the statement",
    "duplicate_statements": "an earlier answer brought the same evidence; it keeps what it loses and nothing it gains",
    "validator_fault": "the validator could not judge it; nothing is charged to the miner",
}
FLAGS = {
    "age_unknown": "the age of the domain is not known",
    "context_flip": "the sentence around it says the opposite",
    "redirected": "the URL led to another domain",
    "unassessed": "the assessor gave no proper opinion",
    "user_content": "it stands among readers' comments",
}
MOST_QUOTE = 160
Row = Mapping[str, Any]


def explain_score(params: EvidenceParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
    """Why `hotkey` got its value."""
    report = report_round(params, observation, scored)
    row = next(row for row in report["answers"] if row["hotkey"] == hotkey)
    shown = "unscored" if row["value"] is None else f"value {row['value']:.9g}"
    snippets = [_explain_snippet(number, snippet, params) for number, snippet in enumerate(row["snippets"], 1)]
    faults = [Node(fault) for fault in report["faults"]] if row["value"] is None else []
    return Node(f"{hotkey}: {shown}", (*_explain_value(row), *snippets, *_explain_extra(row), *faults))


def _explain_value(row: Row) -> Iterator[Node]:
    parts, top = row["parts"], row["reason"]
    if parts is None:
        yield Node(f"validator_fault: {MEANINGS['validator_fault']}")
        return
    if not row["snippets"] and top:
        yield Node(f"{top}: {MEANINGS[top]}, {parts['sum']:g}")
        return
    product = parts["sum"] * parts["speed"]
    yield Node(f"sum of snippets {parts['sum']:.9g} × speed {parts['speed']:.6g} = {product:.9g}")
    if parts["floor_applied"]:
        yield Node(f"never less than {parts['floor']:g}")
    if parts["copy_of"] is not None:
        told = f"{parts['share']:.0%} of its accepted snippets are those of {parts['copy_of']}"
        yield Node(f"duplicate_statements: {told}; {MEANINGS['duplicate_statements']}")


def _explain_snippet(number: int, snippet: Row, params: EvidenceParams) -> Node:
    where = snippet["url"] or "no URL"
    if snippet["accepted"] is None:
        return Node(
            f"snippet {number}, {where}: unscored", (Node(MEANINGS["validator_fault"]), *_tell_timings(snippet))
        )
    if not snippet["accepted"]:
        reason = snippet["reason"]
        return Node(
            f"snippet {number}, {where}: {reason}, {snippet['penalty']:g}",
            (
                Node(MEANINGS[reason]),
                *_tell_page(snippet),
                *_tell_match(snippet),
                *_tell_forgery(snippet),
                *_tell_closeness(snippet, params),
                *_tell_timings(snippet),
            ),
        )
    factor = snippet["domain_factor"]
    counted = "" if factor is None else f" × domain factor {factor:g} = {snippet['score'] * factor:.6g}"
    product = f"local {snippet['local']:.6g} × multiplier {snippet['multiplier']:g}{counted}"
    return Node(
        f"snippet {number}, {where}: accepted, {product}",
        (
            *_tell_page(snippet),
            *_tell_match(snippet),
            *_tell_forgery(snippet),
            *_tell_closeness(snippet, params),
            *_tell_inference(snippet),
            *(Node(f"{flag}: {FLAGS[flag]}") for flag in snippet["flags"]),
            *_tell_signals(snippet),
            *_tell_timings(snippet),
        ),
    )


def _tell_page(snippet: Row) -> Iterator[Node]:
    if snippet["outcome"] is not None:
        led = f", by way of {len(snippet['hops']) - 1} redirects" if len(snippet["hops"]) > 1 else ""
        age = snippet["age_days"]
        aged = "" if age is None else f", domain {age:.0f} days old"
        yield Node(f"page: {snippet['outcome']}{led}{aged}")


def _tell_match(snippet: Row) -> Iterator[Node]:
    match = snippet["match"]
    if match is None:
        return
    if match["found"]:
        typos = f" with {match['typos']} typos" if match["typos"] else ""
        yield Node(f"found at {match['span'][0]}–{match['span'][1]}{typos}: “{_shorten(match['context'])}”")
    elif match["hidden"]:
        yield Node("it is only in parts of the page that readers do not see")
    elif match["altered"]:
        yield Node(f"the page says nearly the same: a {match['altered']} was changed")
    else:
        yield Node("no passage of the page holds these words in this order")


def _tell_forgery(snippet: Row) -> Iterator[Node]:
    if snippet["second_read"] is not None:
        yield Node(f"second read: {snippet['second_read']}")
    if snippet["made_for_task"] is not None:
        told = "after" if snippet["made_for_task"] else "before"
        yield Node(f"the page says that it was published {told} the task was sent")


def _tell_closeness(snippet: Row, params: EvidenceParams) -> Iterator[Node]:
    if snippet["similarity"] is not None:
        yield Node(
            f"similarity to the statement {snippet['similarity']:.6g}, too much above {params.similarity_limit:g}"
        )
    if snippet["relevance"] is not None:
        yield Node(f"relevance of the passage {snippet['relevance']:.6g}, unrelated below {params.relevance_floor:g}")


def _tell_inference(snippet: Row) -> Iterator[Node]:
    for name, what in (("nli", "the passage"), ("nli_context", "its sentence")):
        given = snippet[name]
        if given is not None:
            shares = ", ".join(f"{label} {share:.6g}" for label, share in given.items())
            yield Node(f"{what}: {shares}; local {given['contradiction'] + given['entailment']:.6g}")
    yield Node(f"stance: {snippet['stance']}")


def _tell_signals(snippet: Row) -> Iterator[Node]:
    told = ", ".join(
        f"{name.replace('_', ' ')} {value:g}" for name, value in snippet["signals"].items() if value is not None
    )
    yield Node(f"signals, never part of the score: {told}")


def _tell_timings(snippet: Row) -> Iterator[Node]:
    if snippet["timings"]:
        told = ", ".join(f"{what} {seconds:.3f}" for what, seconds in snippet["timings"].items())
        yield Node(f"seconds, never part of the score: {told}")


def _explain_extra(row: Row) -> Iterator[Node]:
    if row["extra"]:
        yield Node(f"extra_snippet: {row['extra']} more were not looked at")


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MOST_QUOTE else flat[: MOST_QUOTE - 1] + "…"
