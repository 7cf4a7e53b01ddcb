"""Pages of a WARC file: redirects are followed from record to record, as they would be on the web."""

import hashlib
from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.senses.adapters.pages.archive.index import page_key
from weighbeam.senses.adapters.pages.archive.warc import WarcFile, WarcPosition
from weighbeam.senses.adapters.pages.archive.warc_index import (
    BLANK,
    MAX_HEAD,
    SavedUrl,
    WarcIndex,
    parse_saved_body,
    parse_saved_head,
)
from weighbeam.senses.adapters.pages.limits import TEXT, PageLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreachable, ReadEnded, judge_answer
from weighbeam.senses.adapters.pages.web.exchange import HttpHead
from weighbeam.senses.adapters.pages.web.fetch import MAX_SHOWN, REDIRECTS, Fetched
from weighbeam.senses.adapters.pages.web.url import join_page_url, parse_page_url
from weighbeam.senses.ports.page import Hop

ENDINGS = (".warc", ".warc.gz")
FRAMES = 1 << 20


def is_warc(path: Path) -> bool:
    return path.name.endswith(ENDINGS) and not path.is_dir()


class WarcPages:
    """Finds what a fetch would have brought."""

    def __init__(self, path: Path) -> None:
        self._file = WarcFile(path)
        index = WarcIndex(self._file)
        self._pages, self._ages = index.pages, index.ages
        with path.open("rb") as file:
            self.digest = digest_json([hashlib.file_digest(file, "sha256").hexdigest(), index.ages])
        self._limits = PageLimits()

    def find(self, url: str) -> Fetched | None:
        """The way of a URL and what is at its end; None if it was not saved."""
        if page_key(url) not in self._pages:
            return None
        hops: list[Hop] = []
        try:
            return self._follow(url, hops)
        except ReadEnded as end:
            return Fetched(end.outcome, tuple(hops), fault=end.why)
        except OSError:
            return Fetched("fault", tuple(hops), fault="disk")

    def age_days(self, domain: str) -> float | None:
        return self._ages.get(domain)

    def _follow(self, url: str, hops: list[Hop]) -> Fetched:
        for _ in range(self._limits.redirects + 1):
            hops.append(Hop(url[:MAX_SHOWN]))
            place = parse_page_url(url)
            saved = self._pages.get(place.url)
            if saved is None:
                raise PageUnreachable("not_saved")
            head = None if saved.head is None else parse_saved_head(self._read(saved.head, MAX_HEAD + len(BLANK)))
            hops[-1] = Hop(url[:MAX_SHOWN], head.status if head else None, saved.address)
            if head is None or head.status not in REDIRECTS or saved.note.outcome is not None:
                return self._finish(saved, head, tuple(hops))
            location = head.find("location")
            if not location:
                raise PageUnreachable("protocol")
            url = join_page_url(place.url, location)
        hops.append(Hop(url[:MAX_SHOWN]))
        raise PageUnreachable("hops")

    def _finish(self, saved: SavedUrl, head: HttpHead | None, hops: tuple[Hop, ...]) -> Fetched:
        kind, robots = (head.find("content-type"), head.find_all("x-robots-tag")) if head else ("", "")
        outcome = saved.note.outcome or judge_answer(head.status if head else 0, kind, TEXT)
        if outcome != "read" or saved.body is None:
            return Fetched(outcome, hops, kind, robots, fault=saved.note.fault)
        limit = MAX_HEAD + self._limits.body_bytes + FRAMES
        if saved.body.length > limit:
            raise PageTooLarge("body")
        return Fetched(
            outcome, hops, kind, robots, parse_saved_body(self._read(saved.body, limit), self._limits.body_bytes)
        )

    def _read(self, where: WarcPosition, limit: int) -> bytes:
        return self._file.load_block(where, limit)
