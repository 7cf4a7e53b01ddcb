"""The only part of evidence that touches the world: pages, ages, models (spec §§ 3, 13, 14).

Snippets go as far as their checks let them: what fails on its URL or its text is never read, what is not on its page is
never judged. Whatever a check needs is written down with it, so that scoring needs neither page nor model.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from weighbeam.core.numbers import is_number
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanisms.evidence.excerpt.checks import is_valid_excerpt, repeats_statement
from weighbeam.mechanisms.evidence.judge.models import (
    ask_opinions,
    infer_snippets,
    measure_relevance,
    measure_sentiment,
    measure_similarity,
    note_opinions,
)
from weighbeam.mechanisms.evidence.judge.payload import parse_payload
from weighbeam.mechanisms.evidence.judge.request import PROMPT_DIGEST
from weighbeam.mechanisms.evidence.judge.signals import load_signal_words
from weighbeam.mechanisms.evidence.pages.context import ObserveContext, ObservedSnippet, RoundDeadline
from weighbeam.mechanisms.evidence.pages.reading import (
    begin_second_read,
    fetch_all,
    inspect_pages,
    list_texts,
    note_second_read,
)
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.task import parse_statement
from weighbeam.mechanisms.evidence.url.known_hosts import describe_sources
from weighbeam.mechanisms.evidence.url.lists import Lists, parse_lists
from weighbeam.mechanisms.evidence.url.verdict import judge_url
from weighbeam.senses.ports.protocols import ForgeryChecks, Listing, Senses

LISTS = ("blacklist", "approved")


def observe_round(params: EvidenceParams, asked: Asked, senses: Senses) -> Observation:
    """The observation of a round; a task that cannot be read is refused, answers never are."""
    statement = parse_statement(asked.task.body)
    listings, lists = find_lists(senses, asked.at)
    round_ = ObserveContext(params, statement, asked.seed, asked.at, lists, senses, RoundDeadline(senses.clock))
    given = [parse_payload(answer, params.max_snippets) for answer in asked.answers]
    looked = [
        ObservedSnippet(answer.hotkey, number, entry["url"], entry["excerpt"])
        for answer, one in zip(asked.answers, given, strict=True)
        for number, entry in enumerate(one.entries)
    ]
    texts = _observe_all(round_, looked)
    by_hotkey: dict[str, list[dict[str, Any]]] = {}
    for one in looked:
        by_hotkey.setdefault(one.hotkey, []).append({"given": one.url, "excerpt": one.excerpt, **one.facts})
    miners = [
        {
            "hotkey": answer.hotkey,
            "uid": answer.uid,
            "status": one.status if is_number(answer.seconds) else "fault",
            "seconds": round(max(0.0, float(answer.seconds)), 6) if is_number(answer.seconds) else None,
            "snippets": by_hotkey.get(answer.hotkey, []),
            "extra": one.extra,
        }
        for answer, one in zip(asked.answers, given, strict=True)
    ]
    facts = {
        "format": 1,
        "task": {
            "id": asked.task.id,
            "kind": asked.task.kind,
            "ranked": asked.task.ranked,
            "wanted": list(asked.task.wanted),
            "statement": statement,
            "at": asked.at,
        },
        "seed": asked.seed,
        "group": {"members": list(asked.group.members), "extra": list(asked.group.extra)},
        "senses": name_senses(senses),
        "lists": {name: _describe(listing) for name, listing in listings.items()},
        "sources": describe_sources(),
        "faults": sorted(set(round_.faults)),
        "miners": miners,
    }
    return Observation(facts, {}, texts)


def find_lists(senses: Senses, at: float | None) -> tuple[dict[str, Listing], Lists]:
    """The lists in force when the round began; one that is broken is refused, it never means an empty one."""
    listings = {name: senses.rulebook.in_force(name, at) for name in LISTS}
    blacklist, approved = (list(listings[name].entries) for name in LISTS)
    return listings, parse_lists(blacklist, approved, list(senses.rulebook.extra_suffixes))


def name_senses(senses: Senses) -> dict[str, Any]:
    """By id and digest; where pages come from is not among them, since every read is recorded."""
    named = {
        "embedder": senses.embedder,
        "entailment": senses.entailment,
        "rulebook": senses.rulebook,
        "sentiment": senses.sentiment,
        **({} if senses.assessor is None else {"assessor": senses.assessor}),
    }
    known: dict[str, Any] = {name: {"id": sense.id, "digest": sense.digest} for name, sense in named.items()}
    if senses.doubts != ForgeryChecks():
        known["doubts"] = asdict(senses.doubts)
    return {**known, "signal_words": load_signal_words().digest, "assessment": PROMPT_DIGEST}


def _observe_all(round_: ObserveContext, looked: Sequence[ObservedSnippet]) -> dict[str, str]:
    """Stage by stage, so that models and pages are asked for everything at once; gives the texts of the pages."""
    for one in looked:
        one.facts["url"] = judge_url(one.url, (), one.excerpt, round_.lists, round_.params).as_json()
    sound = [one for one in looked if one.passes and _is_sound(one, round_)]
    measure_similarity(sound, round_)
    wanted = [one for one in sound if not _is_too_similar(one, round_.params)]
    pages = fetch_all(wanted, round_)
    inspect_pages(wanted, pages, round_)
    found = [one for one in wanted if one.passes and one.facts.get("match", {}).get("found")]
    again = begin_second_read(found, round_)
    measure_relevance(found, round_)
    related = [one for one in found if _is_related(one, round_.params)]
    opinions = ask_opinions(related, round_)
    infer_snippets(related, round_)
    measure_sentiment(related, round_)
    note_second_read(found, pages, again, round_)
    note_opinions(related, opinions, round_)
    return list_texts(pages)


def _is_sound(one: ObservedSnippet, round_: ObserveContext) -> bool:
    if not is_valid_excerpt(one.excerpt, round_.params.min_words) or one.excerpt is None:
        return False
    return not repeats_statement(one.excerpt, round_.statement)


def _is_too_similar(one: ObservedSnippet, params: EvidenceParams) -> bool:
    """Or not known to be otherwise."""
    similarity = one.facts["similarity"]
    return similarity is None or similarity > params.similarity_limit or "page" in one.facts


def _is_related(one: ObservedSnippet, params: EvidenceParams) -> bool:
    relevance = one.facts["relevance"]
    return relevance is not None and relevance >= params.relevance_floor


def _describe(listing: Listing) -> dict[str, Any]:
    return {
        "version": listing.version,
        "digest": listing.digest,
        "entries": len(listing.entries),
        "effective": listing.effective,
    }
