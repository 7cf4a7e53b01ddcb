"""Matching at the cap: valid excerpts that take longest on pages of 1,000,000 characters made for them."""

import itertools
import string
import time
from collections.abc import Iterator, Mapping

from benchmarks.measure import Line
from weighbeam.mechanisms.evidence.excerpt.checks import is_valid_excerpt
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise

CHARACTERS = 1_000_000
SECONDS = 0.2
LAPS = 3
SYMBOLS = "%‰<>=≠≤≥±+$€£¥¢₹₽"
MANY_SYMBOLS = SYMBOLS + "₿₩₪₫₭₮₱₲₴₵₸₺₼₠₡₢₣₤₥₦₧₯₰₳₶₷₻₾"
SLIPS = string.ascii_lowercase[1:] + "".join(map(chr, range(0xAC00, 0xAC3A)))
# Hangul, Tangut, Yi, hieroglyphs and cuneiform: letters enough for as many words with one in common.
LETTERS = ((0xAC40, 0xD7A4), (0x17000, 0x187F8), (0xA000, 0xA48D), (0x13000, 0x13430), (0x12000, 0x1239A))
WORDS = "sun sky sea sun sky "


def measure_hostile_matches() -> Iterator[Line]:
    """None of the excerpts is found, so that a page is searched for what was altered as well."""
    spent = {name: _spend(*pair) for name, pair in list_hostile().items()}
    worst = max(spent.values())
    shown = ", ".join(f"{name} {seconds * 1e3:.0f}" for name, seconds in sorted(spent.items(), key=lambda one: -one[1]))
    yield Line("matching at the cap, hostile excerpts", f"{worst * 1e3:.0f} ms ({shown})", "≤ 200 ms", worst <= SECONDS)


def list_hostile() -> Mapping[str, tuple[str, str]]:
    """Excerpt and page by what is hard about them."""
    letters = itertools.chain.from_iterable(itertools.starmap(range, LETTERS))
    star = [f"a{chr(point)}aa" for point in letters]
    typos = [f"a{letter}aa" for letter in SLIPS]
    eighths = "".join(f" {word}%%%%%%%" for word in itertools.islice(itertools.cycle(star), 83_000))
    return {
        "one symbol": (f"{WORDS}moonx " + "%" * 900, _fill("%", f" {WORDS} moon moonz")),
        "joins among one symbol": (f"{WORDS}not " + "a a%%%%%%%" * 97, _fill("a a%%%%%%%", f"aa {WORDS}not")),
        "joins among 17 symbols": (f"{WORDS}not " + f"a a{SYMBOLS}" * 43, _fill(f"a a{SYMBOLS}", f"aa {WORDS}not")),
        "joins among 45 symbols": (
            f"{WORDS}not " + f"a a{MANY_SYMBOLS}" * 19,
            _fill(f"a a{MANY_SYMBOLS}", f"aa {WORDS}not"),
        ),
        "pairs among one symbol": (WORDS + "ab%%%%%%%" * 99, _fill("a b%%%%%%%", f"ab {WORDS}")),
        "joins and pairs": ("b " + "aa a " * 99, _fill("a ", "aa aaa b")),
        "83 typos": ("%" * 583 + " " + " ".join(typos), _fill(" ".join(star) + " ", " %")),
        "82 typos among symbols": ("+" + "".join(f" {word}%%%%%%%" for word in typos[:82]), eighths + "+"),
    }


def _fill(period: str, end: str) -> str:
    times = CHARACTERS // len(period) + 1
    return (period * times)[: CHARACTERS - len(end)] + end


def _spend(excerpt: str, text: str) -> float:
    assert is_valid_excerpt(excerpt, min_words=5)
    page = tokenise(text)
    laps = []
    for _ in range(LAPS):
        start = time.process_time()
        assert not match_excerpt(excerpt, page).found
        laps.append(time.process_time() - start)
    return min(laps)
