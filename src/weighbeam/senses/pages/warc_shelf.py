"""Pages of a WARC file: redirects are followed from record to record, as they would be on the web."""

import hashlib
from pathlib import Path

from weighbeam.core.canonical import digest_json
from weighbeam.senses.pages.ends import Ended, TooLarge, Unreachable
from weighbeam.senses.pages.exchange import Head
from weighbeam.senses.pages.fetch import MOST_SHOWN, REDIRECTS, Fetched
from weighbeam.senses.pages.index import page_key
from weighbeam.senses.pages.limits import TEXT, Limits
from weighbeam.senses.pages.outcome import judge_answer
from weighbeam.senses.pages.place import join_place, read_place
from weighbeam.senses.pages.saved_answer import BLANK, MOST_HEAD, read_body, read_head
from weighbeam.senses.pages.warc import WarcFile, Where
from weighbeam.senses.pages.warc_index import Saved, WarcIndex
from weighbeam.senses.ports import Hop

ENDINGS = (".warc", ".warc.gz")
FRAMES = 1 << 20


def is_warc(path: Path) -> bool:
    return path.name.endswith(ENDINGS) and not path.is_dir()


class WarcShelf:
    """Finds what a fetch would have brought."""

    def __init__(self, path: Path) -> None:
        self._file = WarcFile(path)
        index = WarcIndex(self._file)
        self._pages, self._ages = index.pages, index.ages
        with path.open("rb") as file:
            self.digest = digest_json([hashlib.file_digest(file, "sha256").hexdigest(), index.ages])
        self._limits = Limits()

    def find(self, url: str) -> Fetched | None:
        """The way of a URL and what is at its end; None if it was not saved."""
        if page_key(url) not in self._pages:
            return None
        hops: list[Hop] = []
        try:
            return self._follow(url, hops)
        except Ended as end:
            return Fetched(end.outcome, tuple(hops), fault=end.why)
        except OSError:
            return Fetched("fault", tuple(hops), fault="disk")

    def age_days(self, domain: str) -> float | None:
        return self._ages.get(domain)

    def _follow(self, url: str, hops: list[Hop]) -> Fetched:
        for _ in range(self._limits.redirects + 1):
            hops.append(Hop(url[:MOST_SHOWN]))
            place = read_place(url)
            saved = self._pages.get(place.url)
            if saved is None:
                raise Unreachable("not_saved")
            head = None if saved.head is None else read_head(self._read(saved.head, MOST_HEAD + len(BLANK)))
            hops[-1] = Hop(url[:MOST_SHOWN], head.status if head else None, saved.address)
            if head is None or head.status not in REDIRECTS or saved.note.outcome is not None:
                return self._finish(saved, head, tuple(hops))
            location = head.find("location")
            if not location:
                raise Unreachable("protocol")
            url = join_place(place.url, location)
        hops.append(Hop(url[:MOST_SHOWN]))
        raise Unreachable("hops")

    def _finish(self, saved: Saved, head: Head | None, hops: tuple[Hop, ...]) -> Fetched:
        kind, robots = (head.find("content-type"), head.find_all("x-robots-tag")) if head else ("", "")
        outcome = saved.note.outcome or judge_answer(head.status if head else 0, kind, TEXT)
        if outcome != "read" or saved.body is None:
            return Fetched(outcome, hops, kind, robots, fault=saved.note.fault)
        most = MOST_HEAD + self._limits.body_bytes + FRAMES
        if saved.body.length > most:
            raise TooLarge("body")
        return Fetched(outcome, hops, kind, robots, read_body(self._read(saved.body, most), self._limits.body_bytes))

    def _read(self, where: Where, most: int) -> bytes:
        return self._file.read_block(where, most)
