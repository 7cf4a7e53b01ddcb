"""The worst round five colluding miners can make: 25 pages at the caps, each slow to read in another way."""

import itertools
import random
import string
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.measure import Line
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.page import Hop, Page
from weighbeam.senses.ports.protocols import ForgeryChecks

CHARACTERS = 1_000_000
READ_SECONDS = 60.0
STATEMENT = "The sea rises and falls twice a day because of the Moon and of the Sun."
LETTERS = string.ascii_lowercase + "".join(map(chr, [*range(0x430, 0x450), *range(0x3B1, 0x3C1)]))
EVIDENCE = Evidence()


def measure_worst(local: LocalSenses) -> Iterator[Line]:
    """Reading takes its whole deadline; the rest is measured with the pages at hand, on one core."""
    senses = Hostile(local)
    start = time.process_time()
    spent = {name: round(seconds) for name, seconds in play_worst(senses).items()}
    work = time.process_time() - start
    shown = f"{work:.0f} s of work {spent} besides {READ_SECONDS:.0f} s of reading"
    yield Line("observe: 5 miners × 5 pages of 1,000,000 characters", shown, "≤ 150 s", work + READ_SECONDS <= 150)


def play_worst(senses: "Hostile") -> dict[str, float]:
    """The seconds of each part."""
    answers = tuple(
        Answer(f"m{m}", {"snippets": [{"url": url, "excerpt": text} for url, text in senses.list_quotes(m)]}, 1.0)
        for m in range(5)
    )
    asked = Asked(Task("t", {"statement": STATEMENT}), Group(tuple(a.hotkey for a in answers)), answers, "worst")
    observed = EVIDENCE.observe(EvidenceParams(relevance_floor=-1.0), asked, senses)
    timings = [one.get("timings", {}) for miner in observed.facts["miners"] for one in miner["snippets"]]
    batches = {name: max((t.get(name, 0.0) for t in timings), default=0.0) for name in ("similarity", "ages", "nli")}
    return {**batches, "match": sum(one.get("match", 0.0) for one in timings)}


def fill(words: Iterator[str]) -> str:
    pieces, size = [], 0
    while size < CHARACTERS - 2_000:
        pieces.append(next(words))
        size += len(pieces[-1]) + 1
    return " ".join(pieces)


def spell(count: int) -> Iterator[str]:
    return map("".join, itertools.cycle(itertools.product(LETTERS, repeat=count)))


KINDS: Sequence[Callable[[], Iterator[str]]] = (
    lambda: spell(3),
    lambda: (word + "n't" for word in spell(3)),
    lambda: (chr(0x4E00 + i * 7919 % 20_000) + chr(0x300 + i * 31 % 60) for i in itertools.count()),
    lambda: ("a" + chr(0x300 + i % 80) + chr(0x316 + i // 80 % 60) for i in itertools.count()),
    lambda: (f"{i % 900 + 100},{i // 900 % 1000:03}" for i in itertools.count()),
)


class Hostile:
    """A validator's own senses, but for the web, which is as hostile as can be. Every other excerpt is on its page."""

    assessor = second_pages = None
    doubts = ForgeryChecks()
    id = digest = "hostile"

    def __init__(self, local: LocalSenses, wait_seconds: float = 0.0) -> None:
        self.embedder, self.entailment = local.embedder.inner, local.entailment.inner
        self.sentiment, self.rulebook, self.clock = local.sentiment, local.rulebook, local.clock
        self.pages = self.ages = self
        self._wait_seconds = wait_seconds
        fillers = [fill(kind()) for kind in KINDS]
        self._quotes = {f"https://www.worst{n}.org/": _write_excerpt(n) for n in range(25)}
        self._pages = {
            url: _write_page(url, quote, fillers[n % len(KINDS)], n)
            for n, (url, quote) in enumerate(self._quotes.items())
        }

    def list_quotes(self, miner: int) -> list[tuple[str, str]]:
        return list(self._quotes.items())[miner * 5 : miner * 5 + 5]

    def read_all(self, urls: Sequence[str]) -> list[Page]:
        time.sleep(self._wait_seconds)
        return [self._pages[url] for url in urls]

    def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
        time.sleep(self._wait_seconds / 3)
        return [None] * len(domains)


def _write_excerpt(number: int) -> str:
    """As many sentences, and windows of them, as fit into 200 words; its last words may be mistyped."""
    rng = random.Random(number)
    words = ["".join(rng.choices(string.ascii_lowercase, k=2)) for _ in range(190)]
    return ". ".join([*words, "moons", "tides", "water", "rises"])


def _write_page(url: str, quote: str, filler: str, number: int) -> Page:
    """A page without the excerpt holds all but its last word, and every two words of it joined, again and again."""
    words = quote.split(". ")
    joined = " ".join(one + other for one, other in itertools.pairwise(words))
    there = quote if number % 2 else " ".join(words[:-1])
    text = f"{filler} {there} {joined} rises"[:CHARACTERS]
    return Page("read", (Hop(url, 200),), text=text, full=f"hidden {text[:-7]}", text_sha256=f"{number:064x}")
