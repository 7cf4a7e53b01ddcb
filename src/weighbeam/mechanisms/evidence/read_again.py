"""The second read (spec § 8): is the excerpt still there later, and for a reader from another address?

Only a page that is read again, at the same URL, and lacks the excerpt is evidence. A second read that fails, leads
elsewhere or differs by a number says nothing: sites block, move and count.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Literal

from weighbeam.mechanisms.evidence.hurry import begin, wait_for
from weighbeam.mechanisms.evidence.looked import Looked, Round
from weighbeam.mechanisms.evidence.read_pages import match_all, read_pages
from weighbeam.senses.ports import Page

Second = Literal["found", "absent"]
Pages = Mapping[str, Page]


def begin_second_read(looked: Sequence[Looked], round_: Round) -> "Future[Pages] | None":
    """Read the pages of what was found once more, some seconds from now; other work goes on meanwhile."""
    wait, urls = round_.senses.doubts.second_read_seconds, list(dict.fromkeys(str(one.url) for one in looked))
    if wait is None or not urls:
        return None
    pages = round_.senses.second_pages or round_.senses.pages

    def read_later() -> Pages:
        round_.senses.clock.sleep(wait)
        return read_pages(urls, pages)

    return begin(read_later)


def note_second_read(looked: Sequence[Looked], first: Pages, reading: "Future[Pages] | None", round_: Round) -> None:
    """Write down what the second read showed, null where it showed nothing."""
    if reading is None:
        return
    second = wait_for(reading, round_.hurry.left("again"), "second read", round_.faults) or {}
    for one in looked:
        page = second.get(str(one.url))
        in_time = page is not None and round_.hurry.left("again") > 0
        one.facts["second_read"] = compare_reads(str(one.excerpt), first[str(one.url)], page) if in_time else None


def compare_reads(excerpt: str, first: Page, second: Page | None) -> Second | None:
    """Whether an excerpt that was found is still there."""
    if second is None or second.outcome != "read" or second.url != first.url:
        return None
    if second.text == first.text:
        return "found"
    match = match_all(second, [excerpt])[excerpt]
    if match.found:
        return "found"
    return None if match.altered == "number" else "absent"
