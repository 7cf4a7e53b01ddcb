"""From what was fetched, now or long ago, to a page."""

import time

from weighbeam.senses.pages.apart import ParserLost, Parsers
from weighbeam.senses.pages.ends import Ended
from weighbeam.senses.pages.fetch import Fetched
from weighbeam.senses.ports import Page

READER_VERSION = 1


def complete_page(fetched: Fetched, parsers: Parsers) -> Page:
    """The page; a parser that fails is the page's doing unless it fails on a known page too."""
    seconds = {"fetch": round(fetched.seconds, 6)}
    if fetched.render_seconds:
        seconds["render"] = round(fetched.render_seconds, 6)
    bare = Page(fetched.outcome, fetched.hops, seconds=seconds, fault=fetched.fault)
    if fetched.outcome != "read":
        return bare
    began = time.monotonic()
    try:
        parsed = parsers.parse(fetched.body, fetched.content_type, fetched.robots)
    except (Ended, ParserLost) as end:
        outcome, why = (end.outcome, end.why) if isinstance(end, Ended) else ("unreadable", "parser")
        if why == "parser" and not parsers.works():
            outcome = "fault"
        return Page(outcome, fetched.hops, bytes=len(fetched.body), seconds=bare.seconds, fault=why)
    seconds = {**seconds, "parse": round(time.monotonic() - began, 6)}
    return Page(
        outcome="read" if parsed.text else "empty",
        hops=fetched.hops,
        title=parsed.title,
        headings=parsed.headings,
        search_box=parsed.search_box,
        noindex=parsed.noindex,
        text=parsed.text,
        full=parsed.text if parsed.full is None else parsed.full,
        user_spans=parsed.user_spans,
        date=fetched.date or parsed.date,
        published=parsed.published,
        bytes=len(fetched.body),
        body_sha256=parsed.body_sha256,
        text_sha256=parsed.text_sha256,
        seconds=seconds,
    )
