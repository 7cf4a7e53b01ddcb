"""The only part of evidence that touches the world: pages, ages, models (spec §§ 3, 13, 14).

Snippets go as far as their checks let them: what fails on its URL or its text is never read, what is not on its page is
never judged. Whatever a check needs is written down with it, so that scoring needs neither page nor model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.numbers import is_number
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.contract import Asked, Observation
from weighbeam.mechanisms.evidence.assess import assess_snippet
from weighbeam.mechanisms.evidence.assess_request import PROMPT_DIGEST, Claim
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.closeness import Closeness, embed_all
from weighbeam.mechanisms.evidence.entries import read_payload
from weighbeam.mechanisms.evidence.excerpt import is_valid_excerpt, repeats_statement
from weighbeam.mechanisms.evidence.lists import Lists, read_lists
from weighbeam.mechanisms.evidence.match import match_excerpt
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.read_pages import Read, describe_page, find_age, list_texts, read_pages
from weighbeam.mechanisms.evidence.sentences import list_passages
from weighbeam.mechanisms.evidence.signal_words import read_signal_words
from weighbeam.mechanisms.evidence.sources import describe_sources
from weighbeam.mechanisms.evidence.task import read_statement
from weighbeam.mechanisms.evidence.tokens import drop_citations
from weighbeam.mechanisms.evidence.url import judge_url
from weighbeam.senses.ports import Listing, Senses

CLASSES = ("contradiction", "neutral", "entailment")
LISTS = ("blacklist", "approved")
MOST_FAULT = 200


@dataclass(slots=True)
class Looked:
    """A snippet on its way through the checks, and the facts found so far."""

    hotkey: str
    number: int
    url: str | None
    excerpt: str | None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        return bool(self.facts["url"]["ok"])


@dataclass(frozen=True, slots=True)
class Round:
    """What all snippets of a round share."""

    params: EvidenceParams
    statement: str
    seed: str | int
    lists: Lists
    senses: Senses


def observe_round(params: EvidenceParams, asked: Asked, senses: Senses) -> Observation:
    """The observation of a round; a task that cannot be read is refused, answers never are."""
    statement = read_statement(asked.task.body)
    listings = {name: senses.rulebook.in_force(name) for name in LISTS}
    blacklist, approved = (list(listings[name].entries) for name in LISTS)
    lists = read_lists(blacklist, approved, list(senses.rulebook.extra_suffixes))
    round_ = Round(params, statement, asked.seed, lists, senses)
    given = [read_payload(answer, params.max_snippets) for answer in asked.answers]
    looked = [
        Looked(answer.hotkey, number, entry["url"], entry["excerpt"])
        for answer, one in zip(asked.answers, given, strict=True)
        for number, entry in enumerate(one.entries)
    ]
    faults: list[str] = []
    texts = _look_at_all(round_, looked, faults)
    by_hotkey: dict[str, list[dict[str, Any]]] = {}
    for one in looked:
        by_hotkey.setdefault(one.hotkey, []).append({"excerpt": one.excerpt, **one.facts})
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
        "faults": sorted(set(faults)),
        "miners": miners,
    }
    return Observation(facts, {}, texts)


def name_senses(senses: Senses) -> dict[str, Any]:
    """By id and digest; where pages come from is not among them, since every read is recorded."""
    named = {
        "embedder": senses.embedder,
        "entailment": senses.entailment,
        "rulebook": senses.rulebook,
        "sentiment": senses.sentiment,
        **({} if senses.assessor is None else {"assessor": senses.assessor}),
    }
    known = {name: {"id": sense.id, "digest": sense.digest} for name, sense in named.items()}
    return {**known, "signal_words": read_signal_words().digest, "assessment": PROMPT_DIGEST}


def _look_at_all(round_: Round, looked: Sequence[Looked], faults: list[str]) -> dict[str, str]:
    """Stage by stage, so that models and pages are asked for everything at once; gives the texts of the pages."""
    for one in looked:
        one.facts["url"] = judge_url(one.url, (), one.excerpt, round_.lists, round_.params).as_json()
    sound = [one for one in looked if one.passes and _is_sound(one, round_)]
    _measure_similarity(sound, round_, faults)
    wanted = [one for one in sound if not _is_too_similar(one, round_.params)]
    read = read_pages([str(one.url) for one in wanted], round_.senses.pages)
    ages: dict[str, float | None] = {}
    for one in wanted:
        _look_at_page(one, read[str(one.url)], round_, ages)
    found = [one for one in wanted if one.passes and one.facts.get("match", {}).get("found")]
    _measure_relevance(found, round_, faults)
    related = [one for one in found if _is_related(one, round_.params)]
    _infer(related, round_, faults)
    _feel(related, round_)
    _assess(related, round_)
    return list_texts(read)


def _is_sound(one: Looked, round_: Round) -> bool:
    if not is_valid_excerpt(one.excerpt, round_.params.min_words) or one.excerpt is None:
        return False
    return not repeats_statement(one.excerpt, round_.statement)


def _measure_similarity(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    passages = {one.excerpt: list_passages(clean_text(one.excerpt or "").strip()) for one in looked}
    statement = clean_text(round_.statement)
    close = _embed(([statement], *passages.values()), round_, faults)
    for one in looked:
        one.facts["similarity"] = close.compare(statement, passages[one.excerpt])


def _is_too_similar(one: Looked, params: EvidenceParams) -> bool:
    similarity = one.facts["similarity"]
    return similarity is None or similarity > params.similarity_limit


def _look_at_page(one: Looked, read: Read, round_: Round, ages: dict[str, float | None]) -> None:
    """The verdict on the whole chain of URLs, the age of the final domain, and where the excerpt is."""
    page = read.page
    verdict = judge_url(one.url, page.redirects, one.excerpt, round_.lists, round_.params)
    one.facts["url"], one.facts["page"] = verdict.as_json(), describe_page(page)
    if not verdict.ok:
        return
    one.facts["age_days"] = find_age(verdict.domain, round_.senses.ages, ages)
    if read.tokens is not None and one.excerpt is not None:
        one.facts["match"] = match_excerpt(one.excerpt, read.tokens, read.full, page.user_spans).as_json()


def _measure_relevance(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    statement = clean_text(round_.statement)
    close = _embed(([statement], [one.facts["match"]["context"] for one in looked]), round_, faults)
    for one in looked:
        one.facts["relevance"] = close.compare(statement, [one.facts["match"]["context"]])


def _is_related(one: Looked, params: EvidenceParams) -> bool:
    relevance = one.facts["relevance"]
    return relevance is not None and relevance >= params.relevance_floor


def _infer(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    """Premise is the page's own wording, with the sentence around it where that says more."""
    pairs: dict[tuple[str, str], dict[str, float] | None] = {}
    for one in looked:
        for premise in _list_premises(one):
            pairs[premise, round_.statement] = None
    try:
        judged = round_.senses.entailment.judge(list(pairs)) if pairs else ()
        for pair, row in zip(pairs, judged, strict=True):
            pairs[pair] = {name: int(value) / MILLION for name, value in zip(CLASSES, row, strict=True)}
    except Exception as fault:
        faults.append(f"{type(fault).__name__}: {fault}"[:MOST_FAULT])
    for one in looked:
        span, *around = [pairs[premise, round_.statement] for premise in _list_premises(one)]
        one.facts["nli"], one.facts["nli_context"] = span, around[0] if around else None
        if around and around[0] is None:
            one.facts["nli"] = None


def _list_premises(one: Looked) -> Iterator[str]:
    match = one.facts["match"]
    yield drop_citations(match["text"])
    if len(match["context"]) > len(match["text"]):
        yield drop_citations(match["context"])


def _feel(looked: Sequence[Looked], round_: Round) -> None:
    for one in looked:
        one.facts["sentiment"] = round(round_.senses.sentiment.feel(one.facts["match"]["context"]), 6)


def _assess(looked: Sequence[Looked], round_: Round) -> None:
    """The tag of each request follows from the round's seed, which nobody knew when the page was written."""
    assessor = round_.senses.assessor
    if assessor is None:
        return
    for one in looked:
        tag = seeded_digest(round_.seed, f"assess:{one.hotkey}:{one.number}")[:16]
        match = one.facts["match"]
        claim = Claim(round_.statement, match["context"], str(one.excerpt), str(one.facts["url"]["url"]))
        one.facts["assessment"] = assess_snippet(assessor, claim, tag).as_json()


def _embed(texts: Sequence[Sequence[str]], round_: Round, faults: list[str]) -> Closeness:
    close = embed_all([text for group in texts for text in group], round_.senses.embedder)
    faults.extend(close.faults)
    return close


def _describe(listing: Listing) -> dict[str, Any]:
    return {"version": listing.version, "digest": listing.digest, "entries": len(listing.entries)}
