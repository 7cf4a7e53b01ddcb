"""A score as a tree: each snippet's way through the checks, the sum, the speed, and whom it copies."""

from collections.abc import Iterator, Mapping
from typing import Any

from weighbeam.mechanism.records import Node, Observation, Scored
from weighbeam.mechanisms.evidence.judge.duplicates import COPIED
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.question import report_round
from weighbeam.mechanisms.evidence.reasons import MEANINGS

FLAGS = {
    "age_unknown": "the age of the domain is unknown",
    "context_flip": "the sentence around it says the opposite",
    "redirected": "the URL led to another domain",
    "unassessed": "the assessor gave no valid opinion",
    "user_content": "it stands among readers' comments",
}
MAX_QUOTE = 160
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
        yield Node(f"{top}, {parts['sum']:g}: {MEANINGS[top]}")
        return
    product = parts["sum"] * parts["speed"]
    yield Node(f"sum of snippets {parts['sum']:.9g} × speed {parts['speed']:.6g} = {product:.9g}")
    if parts["floor_applied"]:
        yield Node(f"never less than {parts['floor']:g}")
    if parts["copy_of"] is not None:
        told = f"{parts['share']:.0%} of its accepted snippets are those of earlier answers, most of {parts['copy_of']}"
        yield Node(f"duplicate_statements: {told}. {MEANINGS['duplicate_statements']}")
    elif parts["share"] > 0:
        yield Node(f"{parts['share']:.0%} of its accepted snippets were in earlier answers")


def _explain_snippet(number: int, snippet: Row, params: EvidenceParams) -> Node:
    where = snippet["url"] or "no URL"
    if snippet["accepted"] is None:
        return Node(
            f"snippet {number}, {where}: unscored", (Node(MEANINGS["validator_fault"]), *_explain_timings(snippet))
        )
    if not snippet["accepted"]:
        reason = snippet["reason"]
        return Node(
            f"snippet {number}, {where}: {reason}, {snippet['penalty']:g}",
            (
                Node(MEANINGS[reason]),
                *_explain_page(snippet),
                *_explain_match(snippet),
                *_explain_forgery(snippet),
                *_explain_closeness(snippet, params),
                *_explain_timings(snippet),
            ),
        )
    factor, source = snippet["domain_factor"], snippet["copy_of"]
    counted = "" if factor is None else f" × domain factor {factor:g} = {snippet['score'] * factor:.6g}"
    relevant = f" × relevance {snippet['relevance_factor']:.6g}" if params.relevance_power else ""
    product = f"accepted, local {snippet['local']:.6g}{relevant} × multiplier {snippet['multiplier']:g}{counted}"
    return Node(
        f"snippet {number}, {where}: {product if source is None else f'{COPIED}, 0'}",
        (
            *_explain_copy(source),
            *_explain_page(snippet),
            *_explain_match(snippet),
            *_explain_forgery(snippet),
            *_explain_closeness(snippet, params),
            *_explain_inference(snippet),
            *(Node(f"{flag}: {FLAGS[flag]}") for flag in snippet["flags"]),
            *_explain_signals(snippet),
            *_explain_timings(snippet),
        ),
    )


def _explain_copy(source: Row | None) -> Iterator[Node]:
    if source is not None:
        yield Node(f"the same quote is snippet {source['snippet']} of {source['hotkey']}, which came first and is paid")


def _explain_page(snippet: Row) -> Iterator[Node]:
    if snippet["outcome"] is not None:
        led = f", by way of {len(snippet['hops']) - 1} redirects" if len(snippet["hops"]) > 1 else ""
        age = snippet["age_days"]
        aged = "" if age is None else f", domain {age:.0f} days old"
        yield Node(f"page: {snippet['outcome']}{led}{aged}")


def _explain_match(snippet: Row) -> Iterator[Node]:
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


def _explain_forgery(snippet: Row) -> Iterator[Node]:
    if snippet["second_read"] is not None:
        yield Node(f"second read: {snippet['second_read']}")
    if snippet["made_for_task"] is not None:
        told = "after" if snippet["made_for_task"] else "before"
        yield Node(f"the page says that it was published {told} the task was sent")


def _explain_closeness(snippet: Row, params: EvidenceParams) -> Iterator[Node]:
    if snippet["similarity"] is not None:
        yield Node(
            f"similarity to the statement {snippet['similarity']:.6g}, too much above {params.similarity_limit:g}"
        )
    if snippet["relevance"] is not None:
        yield Node(f"relevance of the passage {snippet['relevance']:.6g}, unrelated below {params.relevance_floor:g}")


def _explain_inference(snippet: Row) -> Iterator[Node]:
    for name, what in (("nli", "the passage"), ("nli_context", "its sentence")):
        given = snippet[name]
        if given is not None:
            shares = ", ".join(f"{label} {share:.6g}" for label, share in given.items())
            yield Node(f"{what}: {shares}; local {given['contradiction'] + given['entailment']:.6g}")
    yield Node(f"stance: {snippet['stance']}")


def _explain_signals(snippet: Row) -> Iterator[Node]:
    told = ", ".join(
        f"{name.replace('_', ' ')} {value:g}" for name, value in snippet["signals"].items() if value is not None
    )
    yield Node(f"signals, never part of the score: {told}")


def _explain_timings(snippet: Row) -> Iterator[Node]:
    if snippet["timings"]:
        told = ", ".join(f"{what} {seconds:.3f}" for what, seconds in snippet["timings"].items())
        yield Node(f"seconds, never part of the score: {told}")


def _explain_extra(row: Row) -> Iterator[Node]:
    if row["extra"]:
        yield Node(f"extra_snippet: {row['extra']} more were not looked at")


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_QUOTE else flat[: MAX_QUOTE - 1] + "…"
