"""What the pages of snippets show: the whole chain of URLs, the age of the final domain, and where the excerpt is."""

from collections.abc import Mapping, Sequence

from weighbeam.mechanisms.evidence.hurry import begin, wait_for
from weighbeam.mechanisms.evidence.looked import Looked, Round, time_all
from weighbeam.mechanisms.evidence.made_for_task import is_made_for_task
from weighbeam.mechanisms.evidence.read_pages import describe_page, find_ages, match_all, read_pages
from weighbeam.mechanisms.evidence.url import judge_url
from weighbeam.senses.ports import Hop, Page


def read_all(looked: Sequence[Looked], round_: Round) -> dict[str, Page]:
    """The pages by URL. Reading has a deadline of its own; a reader that misses even that fails us, not the pages."""
    urls = list(dict.fromkeys(str(one.url) for one in looked))
    pages = wait_for(
        begin(lambda: read_pages(urls, round_.senses.pages)), round_.hurry.left("read"), "pages", round_.faults
    )
    if pages is None:
        round_.faults.append("pages: not read in time")
        return {url: Page("fault", (Hop(url),), fault="deadline") for url in urls}
    return pages


def look_at_pages(looked: Sequence[Looked], pages: Mapping[str, Page], round_: Round) -> None:
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
    ages = begin(lambda: find_ages(domains, round_.senses.ages))
    _match_pages(passing, pages, round_)
    found = wait_for(ages, round_.hurry.left("match"), "ages", round_.faults) or {}
    for one in passing:
        one.facts["age_days"] = found.get(one.facts["url"]["domain"])
    time_all(passing, "ages", watch)


def _match_pages(looked: Sequence[Looked], pages: Mapping[str, Page], round_: Round) -> None:
    """The smallest pages first, so that who brings the largest holds up nobody else; what is not looked at by the end
    has no match, which is our fault."""
    by_url: dict[str, list[Looked]] = {}
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
