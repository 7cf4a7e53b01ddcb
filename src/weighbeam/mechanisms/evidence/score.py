"""Scores of a recorded round (spec §§ 3, 9, 11). Pure: everything it reads is in the observation's facts."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weighbeam.mechanism.records import Observation, Score, Scored
from weighbeam.mechanisms.evidence.excerpt.forms import parse_forms
from weighbeam.mechanisms.evidence.judge.duplicates import (
    PARTLY_COPIED,
    CopyResponse,
    CopyVerdict,
    find_copies,
    parse_quote,
)
from weighbeam.mechanisms.evidence.judge.nli import parse_inference
from weighbeam.mechanisms.evidence.judge.response import recompute_value, score_response
from weighbeam.mechanisms.evidence.judge.snippet import SnippetVerdict, judge_snippet
from weighbeam.mechanisms.evidence.judge.verdict import VerdictQuote, reach_verdict
from weighbeam.mechanisms.evidence.metrics import list_metrics
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.url.verdict import UrlVerdict

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One miner's answer: its snippets, its own worth, and whom it copied."""

    facts: Facts
    verdicts: tuple[SnippetVerdict, ...]
    result: Facts
    copied: CopyVerdict


def score_round(params: EvidenceParams, observation: Observation) -> Scored:
    """One score per miner in the order asked."""
    judged = judge_round(params, observation)
    scores = tuple(_score(one) for one in judged)
    extra = set(observation.facts["group"]["extra"])
    counted = observation.facts["task"]["ranked"]
    values = {
        score.hotkey: score.value
        for score in scores
        if counted and score.value is not None and score.hotkey not in extra
    }
    summary = {
        "verdict": reach_verdict(_list_quotes(judged), params),
        "values": values,
        "seed": observation.facts["seed"],
        "best": find_best(scores),
        "unassessed": sum("unassessed" in verdict.flags for one in judged for verdict in one.verdicts),
        "metrics": list_metrics(observation.facts, [(one.facts, one.verdicts, one.copied) for one in judged], scores),
    }
    return Scored(scores, summary)


def judge_round(params: EvidenceParams, observation: Observation) -> list[JudgedAnswer]:
    """Every snippet judged alone, then against those before it; then what is left of each answer."""
    statement, miners = observation.facts["task"]["statement"], observation.facts["miners"]
    judged = [tuple(judge_facts(statement, snippet, params) for snippet in miner["snippets"]) for miner in miners]
    compared = [_compare(miner, verdicts) for miner, verdicts in zip(miners, judged, strict=True)]
    copies = find_copies(compared, observation.facts["seed"], params)
    return [_judge_answer(*row, params) for row in zip(miners, judged, copies, strict=True)]


def _judge_answer(
    miner: Facts, verdicts: tuple[SnippetVerdict, ...], copied: CopyVerdict, params: EvidenceParams
) -> JudgedAnswer:
    entries: list[Facts] = [
        verdict.as_json() if source is None else {**verdict.as_json(), "copy_of": asdict(source)}
        for verdict, source in zip(verdicts, copied.sources, strict=True)
    ]
    return JudgedAnswer(miner, verdicts, score_response(miner["status"], miner["seconds"], entries, params), copied)


def judge_facts(statement: str, snippet: Facts, params: EvidenceParams) -> SnippetVerdict:
    """A recorded snippet, by the checks in order."""
    return judge_snippet(UrlVerdict(**snippet["url"]), snippet["excerpt"], {**snippet, "statement": statement}, params)


def recompute(parts: Facts) -> float:
    """The value again, from its parts: a copy keeps what it loses and nothing that it gains."""
    value = recompute_value(parts)
    return min(value, 0.0) if parts["copy_of"] is not None else value


def find_best(scores: tuple[Score, ...]) -> str | None:
    """The highest value of an answer that brought evidence, then the smallest hotkey."""
    good = [score for score in scores if score.status == "valid"]
    return min(good, key=lambda score: (-(score.value or 0.0), score.hotkey)).hotkey if good else None


def _compare(miner: Facts, verdicts: tuple[SnippetVerdict, ...]) -> CopyResponse:
    """An excerpt that is none, such as a single word that every quote holds, makes nobody a copy."""
    quotes = [
        parse_quote(_final_url(snippet), None if verdict.reason == "invalid_excerpt" else snippet["excerpt"])
        for snippet, verdict in zip(miner["snippets"], verdicts, strict=True)
    ]
    seconds = math.inf if miner["seconds"] is None else miner["seconds"]
    return CopyResponse(miner["hotkey"], seconds, quotes, [verdict.accepted is True for verdict in verdicts])


def _final_url(snippet: Facts) -> str | None:
    hops = snippet.get("page", {}).get("hops")
    final: str | None = hops[-1]["url"] if hops else snippet["url"]["url"]
    return final


def _score(one: JudgedAnswer) -> Score:
    hotkey, result, copied = one.facts["hotkey"], one.result, one.copied
    if result["value"] is None:
        return Score(hotkey, "unscored", None, None, ("validator_fault",))
    parts = {**result["parts"], "copy_of": copied.copy_of, "share": copied.share}
    reasons = [copied.reason] if copied.reason else []
    reasons += [result["reason"]] if result["reason"] else []
    reasons += [verdict.reason for verdict in one.verdicts if verdict.reason]
    reasons += [PARTLY_COPIED] if copied.copy_of is None and any(copied.sources) else []
    good = not result["reason"] and copied.copy_of is None and any(verdict.accepted for verdict in one.verdicts)
    return Score(hotkey, "valid" if good else "failed", recompute(parts), parts, tuple(dict.fromkeys(reasons)))


def _list_quotes(judged: list[JudgedAnswer]) -> list[VerdictQuote]:
    """The accepted snippets of all scored answers, by the probabilities that counted."""
    quotes = []
    for one in judged:
        if one.result["value"] is None:
            continue
        for snippet, verdict in zip(one.facts["snippets"], one.verdicts, strict=True):
            inference = parse_inference(snippet.get("nli_context") or snippet.get("nli")) if verdict.accepted else None
            if inference is not None and verdict.page is not None and verdict.domain is not None:
                forms = tuple(parse_forms(snippet["excerpt"]))
                relevant = 1.0 if verdict.relevance_factor is None else verdict.relevance_factor
                bonus = verdict.multiplier or 1.0
                quotes.append(VerdictQuote(verdict.page, forms, verdict.domain, bonus, inference, relevant))
    return quotes
