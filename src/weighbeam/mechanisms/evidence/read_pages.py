"""Read the pages that snippets name, each once, and only those whose snippet got so far (spec § 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.mechanisms.evidence.page_tokens import Tokens, tokenise
from weighbeam.senses.ports import Ages, Page, Pages

MOST_HEADINGS = 50
MOST_HEADING = 200


@dataclass(frozen=True, slots=True)
class Read:
    """A page and its tokens; a page that could not be read has none."""

    page: Page
    tokens: Tokens | None
    full: Tokens | None


def read_pages(urls: Sequence[str], pages: Pages) -> dict[str, Read]:
    distinct = list(dict.fromkeys(urls))
    return {url: _tokenise(page) for url, page in zip(distinct, pages.read_all(distinct), strict=True)}


def describe_page(page: Page) -> dict[str, Any]:
    """What is recorded of a page: everything checks and explanations need, and not its text."""
    return {
        "outcome": page.outcome,
        "title": page.title[:MOST_HEADING],
        "headings": [heading[:MOST_HEADING] for heading in page.headings[:MOST_HEADINGS]],
        "search_box": page.search_box,
        "noindex": page.noindex,
        "hops": [{"url": hop.url[:4096], "status": hop.status, "address": hop.address} for hop in page.hops],
        "bytes": page.bytes,
        "body_sha256": page.body_sha256,
        "text_sha256": page.text_sha256,
        "date": page.date,
        "fault": page.fault,
    }


def find_age(domain: str | None, ages: Ages, known: dict[str, float | None]) -> float | None:
    """Each domain once; what cannot be known is None."""
    if domain is None:
        return None
    if domain not in known:
        found = ages.age_days(domain)
        known[domain] = None if found is None else round(found, 6)
    return known[domain]


def _tokenise(page: Page) -> Read:
    if page.outcome != "read":
        return Read(page, None, None)
    return Read(page, tokenise(page.text), tokenise(page.full) if page.full != page.text else None)


def list_texts(read: Mapping[str, Read]) -> dict[str, str]:
    """Texts of the pages by hash, for explanations."""
    return {one.page.text_sha256: one.page.text for one in read.values() if one.page.text_sha256 and one.page.text}
