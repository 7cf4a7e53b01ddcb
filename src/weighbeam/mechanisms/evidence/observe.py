"""The only part of evidence that touches the world: pages, ages, models (spec §§ 3, 13, 14).

Snippets go as far as their checks let them: what fails on its URL or its text is never read, what is not on its page is
never judged. Whatever a check needs is written down with it, so that scoring needs neither page nor model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.contract import Asked, Observation
from weighbeam.mechanisms.evidence.assess_all import assess_all
from weighbeam.mechanisms.evidence.assess_request import PROMPT_DIGEST, TAG_DIGITS, Claim
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.closeness import Closeness, embed_all
from weighbeam.mechanisms.evidence.entries import read_payload
from weighbeam.mechanisms.evidence.excerpt import is_valid_excerpt, repeats_statement
from weighbeam.mechanisms.evidence.infer import infer_all
from weighbeam.mechanisms.evidence.lists import Lists, read_lists
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.read_pages import describe_page, find_ages, list_texts, match_all, read_pages
from weighbeam.mechanisms.evidence.sentences import list_passages
from weighbeam.mechanisms.evidence.signal_words import read_signal_words
from weighbeam.mechanisms.evidence.sources import describe_sources
from weighbeam.mechanisms.evidence.task import read_statement
from weighbeam.mechanisms.evidence.tokens import drop_citations
from weighbeam.mechanisms.evidence.url import judge_url
from weighbeam.senses.ports import Listing, Page, Senses

LISTS = ("blacklist", "approved")
LEAST_COSINE = -1.0


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
    listings, lists = find_lists(senses, asked.at)
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
        "faults": sorted(set(faults)),
        "miners": miners,
    }
    return Observation(facts, {}, texts)


def find_lists(senses: Senses, at: float | None) -> tuple[dict[str, Listing], Lists]:
    """The lists in force when the round began; one that is broken is refused, it never means an empty one."""
    listings = {name: senses.rulebook.in_force(name, at) for name in LISTS}
    blacklist, approved = (list(listings[name].entries) for name in LISTS)
    return listings, read_lists(blacklist, approved, list(senses.rulebook.extra_suffixes))


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
    pages = read_pages([str(one.url) for one in wanted], round_.senses.pages)
    _look_at_pages(wanted, pages, round_)
    found = [one for one in wanted if one.passes and one.facts.get("match", {}).get("found")]
    _measure_relevance(found, round_, faults)
    related = [one for one in found if _is_related(one, round_.params)]
    _infer(related, round_, faults)
    _feel(related, round_, faults)
    _assess([one for one in related if one.facts["page"]["outcome"] == "read"], round_)
    return list_texts(pages)


def _is_sound(one: Looked, round_: Round) -> bool:
    if not is_valid_excerpt(one.excerpt, round_.params.min_words) or one.excerpt is None:
        return False
    return not repeats_statement(one.excerpt, round_.statement)


def _measure_similarity(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    passages = {one.excerpt: list_passages(clean_text(one.excerpt or "").strip()) for one in looked}
    statement = clean_text(round_.statement)
    close = _embed("similarity", ([statement], *passages.values()), round_, faults)
    for one in looked:
        similarity = close.compare(statement, passages[one.excerpt])
        if similarity is None and not close.down:
            similarity = LEAST_COSINE
            _give_up(one, "embedder")
        one.facts["similarity"] = similarity


def _is_too_similar(one: Looked, params: EvidenceParams) -> bool:
    """Or not known to be otherwise."""
    similarity = one.facts["similarity"]
    return similarity is None or similarity > params.similarity_limit or "page" in one.facts


def _give_up(one: Looked, why: str) -> None:
    """A text that one of our models fails on, though it works, is no better than a page that cannot be read."""
    one.facts["page"] = {**one.facts.get("page", {}), "outcome": "unreadable", "fault": why}


def _look_at_pages(looked: Sequence[Looked], pages: Mapping[str, Page], round_: Round) -> None:
    """The verdict on the whole chain of URLs, the age of the final domain, and where the excerpt is."""
    by_url: dict[str, list[Looked]] = {}
    for one in looked:
        page = pages[str(one.url)]
        verdict = judge_url(one.url, page.redirects, one.excerpt, round_.lists, round_.params)
        one.facts["url"], one.facts["page"] = verdict.as_json(), describe_page(page)
        if verdict.ok:
            by_url.setdefault(str(one.url), []).append(one)
    ages = find_ages((one.facts["url"]["domain"] for one in looked if one.passes), round_.senses.ages)
    for url, group in by_url.items():
        matches = match_all(pages[url], [str(one.excerpt) for one in group])
        for one in group:
            one.facts["age_days"] = ages.get(one.facts["url"]["domain"])
            if matches:
                one.facts["match"] = matches[str(one.excerpt)].as_json()


def _measure_relevance(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    statement = clean_text(round_.statement)
    contexts = [one.facts["match"]["context"] for one in looked]
    close = _embed("relevance", ([statement], contexts), round_, faults)
    for one, context in zip(looked, contexts, strict=True):
        one.facts["relevance"] = close.compare(statement, [context])
        if one.facts["relevance"] is None and not close.down:
            _give_up(one, "embedder")


def _is_related(one: Looked, params: EvidenceParams) -> bool:
    relevance = one.facts["relevance"]
    return relevance is not None and relevance >= params.relevance_floor


def _infer(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    """Premise is the page's own wording, with the sentence around it where that says more."""
    pairs = [(premise, round_.statement) for one in looked for premise in _list_premises(one)]
    inferred = infer_all(pairs, round_.senses.entailment, (_write_known("entailment", round_), round_.statement))
    faults.extend(inferred.faults)
    for one in looked:
        rows = [inferred.rows.get((premise, round_.statement)) for premise in _list_premises(one)]
        complete = None not in rows
        one.facts["nli"] = rows[0] if complete else None
        one.facts["nli_context"] = rows[1] if complete and len(rows) > 1 else None
        if not complete and not inferred.down:
            _give_up(one, "entailment")


def _list_premises(one: Looked) -> Iterator[str]:
    match = one.facts["match"]
    yield drop_citations(match["text"])
    if len(match["context"]) > len(match["text"]):
        yield drop_citations(match["context"])


def _feel(looked: Sequence[Looked], round_: Round, faults: list[str]) -> None:
    """A signal and no score: what has no tone is shown without one, and why is told."""
    for one in looked:
        try:
            one.facts["sentiment"] = round(round_.senses.sentiment.feel(one.facts["match"]["context"]), 6)
        except Exception as fault:
            one.facts["sentiment"] = None
            faults.append(f"sentiment: {type(fault).__name__}")


def _assess(looked: Sequence[Looked], round_: Round) -> None:
    """The tag of each request follows from the round's seed, which nobody knew when the page was written."""
    assessor = round_.senses.assessor
    if assessor is None:
        return
    claims = [
        (
            Claim(round_.statement, one.facts["match"]["context"], str(one.excerpt), str(one.facts["url"]["url"])),
            seeded_digest(round_.seed, f"assess:{one.hotkey}:{one.number}")[:TAG_DIGITS],
        )
        for one in looked
    ]
    for one, assessment in zip(looked, assess_all(assessor, claims), strict=True):
        one.facts["assessment"] = assessment.as_json()


def _embed(why: str, texts: Iterable[Sequence[str]], round_: Round, faults: list[str]) -> Closeness:
    every = [text for group in texts for text in group]
    close = embed_all(every, round_.senses.embedder, _write_known(why, round_))
    faults.extend(close.faults)
    return close


def _write_known(why: str, round_: Round) -> str:
    """Words of our own that no model has seen before, so that its answer comes from itself."""
    return f"A known sentence, {seeded_digest(round_.seed, why)[:TAG_DIGITS]}."


def _describe(listing: Listing) -> dict[str, Any]:
    return {
        "version": listing.version,
        "digest": listing.digest,
        "entries": len(listing.entries),
        "effective": listing.effective,
    }
