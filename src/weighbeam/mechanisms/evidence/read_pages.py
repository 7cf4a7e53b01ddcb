"""Pages and ages that snippets need, each once, and what is written down of them (spec §§ 3, 14)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weighbeam.mechanisms.evidence.match import Match, match_excerpt
from weighbeam.mechanisms.evidence.page_tokens import tokenise
from weighbeam.senses.ports import Ages, Page, Pages

MOST_HEADINGS = 50
MOST_HEADING = 200
MOST_URL = 4096


def read_pages(urls: Sequence[str], pages: Pages) -> dict[str, Page]:
    distinct = list(dict.fromkeys(urls))
    return dict(zip(distinct, pages.read_all(distinct), strict=True))


def describe_page(page: Page) -> dict[str, Any]:
    """What is recorded of a page: everything checks and explanations need, and not its text."""
    return {
        "outcome": page.outcome,
        "title": page.title[:MOST_HEADING],
        "headings": [heading[:MOST_HEADING] for heading in page.headings[:MOST_HEADINGS]],
        "search_box": page.search_box,
        "noindex": page.noindex,
        "hops": [{"url": hop.url[:MOST_URL], "status": hop.status, "address": hop.address} for hop in page.hops],
        "bytes": page.bytes,
        "body_sha256": page.body_sha256,
        "text_sha256": page.text_sha256,
        "date": page.date,
        "published": page.published,
        "fault": page.fault,
    }


def find_ages(domains: Iterable[str | None], ages: Ages) -> dict[str, float | None]:
    """Each domain once; what cannot be known, for whatever reason, is None."""
    distinct = sorted({domain for domain in domains if domain is not None})
    try:
        found = ages.age_days_of(distinct) if distinct else []
    except Exception:
        return dict.fromkeys(distinct)
    known = zip(distinct, found, strict=True)
    return {domain: None if age is None else round(age, 6) for domain, age in known}


def match_all(page: Page, excerpts: Iterable[str]) -> dict[str, Match]:
    """Where excerpts are on a page, which is tokenised here and forgotten: tokens take many times its room.

    Its hidden parts are looked at only if an excerpt is not in the open.
    """
    if page.outcome != "read":
        return {}
    tokens = tokenise(page.text)
    found = {excerpt: match_excerpt(excerpt, tokens, None, page.user_spans) for excerpt in excerpts}
    missing = [excerpt for excerpt, match in found.items() if not match.found]
    if missing and page.full != page.text:
        full = tokenise(page.full)
        found |= {excerpt: match_excerpt(excerpt, tokens, full, page.user_spans) for excerpt in missing}
    return found


def list_texts(pages: Mapping[str, Page]) -> dict[str, str]:
    """Texts of the pages by hash, for explanations."""
    return {page.text_sha256: page.text for page in pages.values() if page.text_sha256 and page.text}
