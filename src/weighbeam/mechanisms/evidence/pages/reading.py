"""Read the pages of snippets: fetch each once, look for the excerpts, check ages and dates, and read again later (spec
§§ 3, 8, 14).

Software that writes pages to order stamps them as it stamps all others. A page that tells no moment, or a false one, is
not caught: what a page says against itself is believed, what it says for itself proves nothing.

Only a page that is read again, at the same URL, and lacks the excerpt is evidence. A second read that fails, leads
elsewhere or differs by a number says nothing: sites block, move and count.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Literal

from weighbeam.mechanisms.evidence.excerpt.match import Match, match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
from weighbeam.mechanisms.evidence.pages.context import (
    ObserveContext,
    ObservedSnippet,
    start_thread,
    time_all,
    wait_for,
)
from weighbeam.mechanisms.evidence.url.verdict import judge_url
from weighbeam.senses.ports.page import Hop, Page
from weighbeam.senses.ports.protocols import Ages, Pages

MAX_HEADINGS = 50
MAX_HEADING = 200
MAX_URL = 4096


def fetch_pages(urls: Sequence[str], pages: Pages) -> dict[str, Page]:
    distinct = list(dict.fromkeys(urls))
    return dict(zip(distinct, pages.read_all(distinct), strict=True))


def describe_page(page: Page) -> dict[str, Any]:
    """Record of a page: everything that checks and explanations need, without its text."""
    return {
        "outcome": page.outcome,
        "title": page.title[:MAX_HEADING],
        "headings": [heading[:MAX_HEADING] for heading in page.headings[:MAX_HEADINGS]],
        "search_box": page.search_box,
        "noindex": page.noindex,
        "hops": [{"url": hop.url[:MAX_URL], "status": hop.status, "address": hop.address} for hop in page.hops],
        "bytes": page.bytes,
        "body_sha256": page.body_sha256,
        "text_sha256": page.text_sha256,
        "date": page.date,
        "published": page.published,
        "fault": page.fault,
    }


def fetch_ages(domains: Iterable[str | None], ages: Ages) -> dict[str, float | None]:
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


SLACK_SECONDS = 5.0
SKEW_SECONDS = 60.0


def is_made_for_task(published: float | None, sent: float | None, now: float) -> bool | None:
    """Whether a page was published between the task and its reading; None if unknown.

    A date in the future proves nothing: some pages give their local time as UTC.

    >>> is_made_for_task(130.0, 100.0, 160.0), is_made_for_task(90.0, 100.0, 160.0), is_made_for_task(9e9, 100.0, 160.0)
    (True, False, None)
    """
    if published is None or sent is None or published > now + SKEW_SECONDS:
        return None
    return published > sent + SLACK_SECONDS


def fetch_all(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> dict[str, Page]:
    """The pages by URL. Reading has a deadline of its own; a reader that misses even that fails us, not the pages."""
    urls = list(dict.fromkeys(str(one.url) for one in looked))
    pages = wait_for(
        start_thread(lambda: fetch_pages(urls, round_.senses.pages)), round_.hurry.left("read"), "pages", round_.faults
    )
    if pages is None:
        round_.faults.append("pages: not read in time")
        return {url: Page("fault", (Hop(url),), fault="deadline") for url in urls}
    return pages


def inspect_pages(looked: Sequence[ObservedSnippet], pages: Mapping[str, Page], round_: ObserveContext) -> None:
    """Registries are asked while excerpts are looked for."""
    for one in looked:
        page = pages[str(one.url)]
        verdict = judge_url(one.url, page.redirects, one.excerpt, round_.lists, round_.params)
        one.facts["url"], one.facts["page"] = verdict.as_json(), describe_page(page)
        one.time("read", round(sum(page.seconds.values()), 6))
        if round_.senses.doubts.made_for_task:
            one.facts["made_for_task"] = is_made_for_task(page.published, round_.at, round_.senses.clock.utc())
    passing = [one for one in looked if one.passes]
    watch = round_.watch()
    domains = [one.facts["url"]["domain"] for one in passing]
    ages = start_thread(lambda: fetch_ages(domains, round_.senses.ages))
    _match_pages(passing, pages, round_)
    found = wait_for(ages, round_.hurry.left("match"), "ages", round_.faults) or {}
    for one in passing:
        one.facts["age_days"] = found.get(one.facts["url"]["domain"])
    time_all(passing, "ages", watch)


def _match_pages(looked: Sequence[ObservedSnippet], pages: Mapping[str, Page], round_: ObserveContext) -> None:
    """The smallest pages first, so that who brings the largest holds up nobody else; what is not looked at by the end
    has no match, which is our fault."""
    by_url: dict[str, list[ObservedSnippet]] = {}
    for one in looked:
        by_url.setdefault(str(one.url), []).append(one)
    for url in sorted(by_url, key=lambda url: len(pages[url].text) + len(pages[url].full)):
        if round_.hurry.left("match") <= 0:
            round_.faults.append("match: not looked for in time")
            return
        watch = round_.watch()
        matches = match_all(pages[url], [str(one.excerpt) for one in by_url[url]])
        if matches:
            for one in by_url[url]:
                one.facts["match"] = matches[str(one.excerpt)].as_json()
            time_all(by_url[url], "match", watch)


SecondRead = Literal["found", "absent"]
PagesByUrl = Mapping[str, Page]


def begin_second_read(looked: Sequence[ObservedSnippet], round_: ObserveContext) -> "Future[PagesByUrl] | None":
    """Read the pages of what was found once more, some seconds from now; other work goes on meanwhile."""
    wait, urls = round_.senses.doubts.second_read_seconds, list(dict.fromkeys(str(one.url) for one in looked))
    if wait is None or not urls:
        return None
    pages = round_.senses.second_pages or round_.senses.pages

    def read_later() -> PagesByUrl:
        round_.senses.clock.sleep(wait)
        return fetch_pages(urls, pages)

    return start_thread(read_later)


def note_second_read(
    looked: Sequence[ObservedSnippet], first: PagesByUrl, reading: "Future[PagesByUrl] | None", round_: ObserveContext
) -> None:
    """Write down what the second read showed, null where it showed nothing."""
    if reading is None:
        return
    second = wait_for(reading, round_.hurry.left("again"), "second read", round_.faults) or {}
    for one in looked:
        page = second.get(str(one.url))
        in_time = page is not None and round_.hurry.left("again") > 0
        one.facts["second_read"] = compare_reads(str(one.excerpt), first[str(one.url)], page) if in_time else None


def compare_reads(excerpt: str, first: Page, second: Page | None) -> SecondRead | None:
    """Whether an excerpt that was found is still there."""
    if second is None or second.outcome != "read" or second.url != first.url:
        return None
    if second.text == first.text:
        return "found"
    match = match_all(second, [excerpt])[excerpt]
    if match.found:
        return "found"
    return None if match.altered == "number" else "absent"
