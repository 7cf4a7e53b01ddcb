"""Page reading as work for a cluster: each registered domain is read by one worker at a time."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.cluster.spec import WorkPart
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings
from weighbeam.senses.ports.page import Hop, Page

LANES = 256
AT_ONCE = 16
PART_URLS = 4
SPARE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class OpenedPages:
    inner: LivePages

    @property
    def digest(self) -> str:
        return self.inner.digest

    def try_known(self) -> str:
        return ""

    def do(self, items: Sequence[str]) -> bytes:
        return encode_pages(self.inner.read_all(items))


@dataclass(frozen=True, slots=True)
class PagesSpec:
    """The web, read with these settings. Hosts of one domain share a lane, so that one reader's manners hold for them:
    how many reads at once, and how long a pause between. Pages may be large, so few make a part.

    >>> urls = [f"https://{host}.example/{page}" for page in range(5) for host in ("a", "b")]
    >>> [part.rows for part in PagesSpec().cut(urls)]
    [(0, 2, 4, 6), (8,), (1, 3, 5, 7), (9,)]
    """

    settings: LiveSettings = field(default_factory=LiveSettings)
    at_once: int = AT_ONCE

    @property
    def part_seconds(self) -> float:
        """Longer than a worker gives itself for what it was given at once."""
        browser = self.settings.rendering.all_seconds if self.settings.browser else 0.0
        return self.settings.limits.all_seconds + browser + SPARE_SECONDS

    def cut(self, items: Sequence[str]) -> list[WorkPart]:
        lanes: dict[int, list[int]] = {}
        for row, url in enumerate(items):
            lanes.setdefault(self._find_lane(url), []).append(row)
        return [
            WorkPart(tuple(rows[i : i + PART_URLS]), lane)
            for lane, rows in lanes.items()
            for i in range(0, len(rows), PART_URLS)
        ]

    def _find_lane(self, url: str) -> int:
        try:
            host = urlsplit(url).hostname or ""
            domain = self.settings.domain_of(host)
        except ValueError:
            domain = ""
        return zlib.crc32(domain.encode("utf-8", "surrogatepass")) % LANES

    def open(self) -> OpenedPages:
        return OpenedPages(LivePages(self.settings))

    def unpack(self, body: bytes, count: int) -> list[Page]:
        return parse_pages(body, count)


def make_late_page(url: str) -> Page:
    """A page that no worker had the time for, which is nobody's fault but ours."""
    return Page("fault", (Hop(url),), fault="deadline")


def encode_pages(pages: Sequence[Page]) -> bytes:
    return json.dumps([asdict(page) for page in pages], ensure_ascii=False).encode("utf-8", "surrogatepass")


def parse_pages(body: bytes, count: int) -> list[Page]:
    """
    >>> page = Page("read", (Hop("https://a.example/", 200),), text="\\ud800 light", user_spans=((0, 1),))
    >>> parse_pages(encode_pages([page]), 1) == [page]
    True
    """
    try:
        pages = [_parse_page(given) for given in json.loads(body.decode("utf-8", "surrogatepass"))]
    except (ValueError, TypeError, KeyError) as fault:
        raise _make_reply_error(f"{type(fault).__name__}: {fault}") from None
    if len(pages) != count:
        raise _make_reply_error(f"{len(pages)} pages for {count} URLs")
    return pages


def _parse_page(given: dict[str, Any]) -> Page:
    shaped: dict[str, Any] = {
        "hops": tuple(Hop(**hop) for hop in given["hops"]),
        "headings": tuple(map(str, given["headings"])),
        "user_spans": tuple((int(begin), int(end)) for begin, end in given["user_spans"]),
    }
    return Page(**{**given, **shaped})


def _make_reply_error(what: str) -> WeighbeamError:
    told = f"a worker's pages cannot be read: {what}"
    return WeighbeamError("worker_fault", told, "run the same version of weighbeam on every node")
